"""A real command, killed with -9 at a named point: python child.py POINT command arguments…  (POINT `nowhere`: it is left alone)

The whole process group dies at once, Java included, when the point is met.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from files_below import files_below, state_versions

from pipeline.store.table_log import newest_version_at
from pipeline.warehouse.layout import Warehouse

INGEST, LANES, UPKEEP = "pipeline.ingest.micro_batch", "pipeline.lanes.query", "pipeline.upkeep.maintain"
#: Point → (before or after, module, function that the module calls).
CALLS = {
    "ingest before bronze": ("before", INGEST, "append_files"),
    "ingest after bronze": ("after", INGEST, "_commit"),
    "ingest before its manifest": ("before", INGEST, "write_manifest"),
    "ingest before Spark's commit": ("after", INGEST, "write_manifest"),
    "lanes after reading": ("after", LANES, "_count"),
    "lanes between two tables": ("after", LANES, "append_rows"),
    "lanes before their manifest": ("before", LANES, "write_manifest"),
    "lanes before Spark's commit": ("after", LANES, "write_manifest"),
}
STATE_COMMIT = "lanes amid a state commit"
#: Of `stream`.
POINTS = (*CALLS, STATE_COMMIT)
AMID_OPTIMIZE, AFTER_OPTIMIZE = "maintain amid OPTIMIZE", "maintain after OPTIMIZE"


def die() -> None:
    """The point was met."""
    os.killpg(0, signal.SIGKILL)


def die_at_call(when: str, module: str, name: str) -> None:
    """Before or after the first call of `name` by the functions of `module`."""
    holder = import_module(module)
    original: Callable[..., Any] = getattr(holder, name)

    def watched(*args: Any, **kwargs: Any) -> Any:
        if when == "before":
            die()
        result = original(*args, **kwargs)
        if when == "after":
            die()
        return result

    setattr(holder, name, watched)


def die_amid_state_commit(warehouse: str) -> None:
    """When the first of the state's partitions has committed a micro-batch: the others are still at it."""
    checkpoint = Warehouse(warehouse).checkpoint("lanes")

    def versions() -> set[str]:
        return {Path(path).name for path in state_versions(checkpoint)}

    def watch() -> None:
        seen = versions()
        while versions() <= seen:
            time.sleep(0.001)
        die()

    threading.Thread(target=watch, daemon=True).start()


def die_amid_optimize(warehouse: str) -> None:
    """When OPTIMIZE has written a merged file of bronze and has not committed it."""
    bronze = Warehouse(warehouse).table("dispatch_events")

    def watch(before: set[str], newest: int) -> None:
        while files_below(bronze, ".parquet") <= before:
            time.sleep(0.001)
        # Else it was too late: the test then misses the kill.
        if newest_version_at(bronze) == newest:
            die()

    threading.Thread(target=watch, args=(files_below(bronze, ".parquet"), newest_version_at(bronze)), daemon=True).start()


def main(point: str, arguments: list[str]) -> int:
    """Run the command with its arguments."""
    from console.command_line import main as run

    warehouse = arguments[arguments.index("--warehouse") + 1]
    if point in CALLS:
        die_at_call(*CALLS[point])
    elif point == STATE_COMMIT:
        die_amid_state_commit(warehouse)
    elif point == AMID_OPTIMIZE:
        die_amid_optimize(warehouse)
    elif point == AFTER_OPTIMIZE:
        die_at_call("after", UPKEEP, "merge")
    return run(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
