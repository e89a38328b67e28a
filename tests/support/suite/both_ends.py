"""Which process gets which file: the first one begins with those that start Spark, the others begin at the other end, until they meet.

So one process alone starts Spark and warms it up. And files of a folder, which need the same logs, stay together.

There is a process more than cores, since tests wait for processes, servers and files. The first one goes before the others: it has the
longest way, and a second Java would take a minute of a core until it is as quick.
"""

import os
from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling

FIRST = "gw0"
#: How much the others stand back (`nice`).
BEHIND = 5


def pytest_configure(config: pytest.Config) -> None:
    """Each process but FIRST stands back."""
    worker = getattr(config, "workerinput", {}).get("workerid", FIRST)
    if worker != FIRST:
        os.nice(BEHIND)


class FromBothEnds(LoadFileScheduling):
    """Files in the order of collection: from its beginning for FIRST, from its end for others."""

    def _assign_work_unit(self, node: Any) -> None:
        if node.gateway.id != FIRST:
            self.workqueue.move_to_end(next(reversed(self.workqueue)), last=False)
        super()._assign_work_unit(node)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> FromBothEnds | None:
    """For --dist loadfile."""
    return FromBothEnds(config, log) if config.getoption("dist") == "loadfile" else None
