"""Which process gets which file: the first one begins with those that start Spark, the others begin at the other end, until they meet.

So one process alone starts Spark and warms it up, for most of the time. And files of a folder, which need the same logs, stay together.
"""

from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling

FIRST = "gw0"


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
