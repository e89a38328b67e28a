"""The real job, killed with -9 at a named point: python child.py POINT stream-arguments…  (POINT `nowhere`: it is left alone)

At a point of MAINTAIN_POINTS it is `maintain`, with its arguments. The whole process group dies at once, Java included, when the point
is met.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

INGEST, LANES = "pipeline.ingest.micro_batch", "pipeline.lanes.query"
#: Point → (before or after, module, function that the module calls).
CALLS = {
    "ingest after bronze": ("after", INGEST, "_write_bronze"),
    "ingest before its manifest": ("before", INGEST, "write_manifest"),
    "ingest before Spark's commit": ("after", INGEST, "write_manifest"),
    "lanes after reading": ("after", LANES, "_count"),
    "lanes between two tables": ("after", LANES, "append"),
    "lanes before their manifest": ("before", LANES, "write_manifest"),
    "lanes before Spark's commit": ("after", LANES, "write_manifest"),
}
STATE_COMMIT = "lanes amid a state commit"
POINTS = (*CALLS, STATE_COMMIT)
#: Point of `maintain` → function of pipeline.upkeep.maintain that changes files of a table, which is under way then.
MAINTAIN_POINTS = {"maintain amid OPTIMIZE": "merge", "maintain amid VACUUM": "vacuum"}


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
    folder = Path(warehouse) / "_checkpoints" / "lanes" / "state"

    def versions() -> set[str]:
        return {path.name for path in folder.glob("*/*/*.changelog")} | {path.name for path in folder.glob("*/*/*.zip")}

    def watch() -> None:
        seen = versions()
        while versions() <= seen:
            time.sleep(0.001)
        die()

    threading.Thread(target=watch, daemon=True).start()


def die_amid_upkeep(name: str, warehouse: str) -> None:
    """When a data file of its table appears or vanishes while the first call of `name` is under way."""
    from pipeline.upkeep import maintain, vacuum

    # Nobody can wait for a week: the test has told Delta to keep nothing.
    vacuum.SHORTEST = vacuum.MARGIN = timedelta(0)
    original: Callable[..., Any] = getattr(maintain, name)

    def watched(spark: Any, where: Any, table_or_merge: Any, *more: Any) -> Any:
        folder = Path(warehouse) / getattr(table_or_merge, "table", table_or_merge)
        before = set(folder.glob("*.parquet"))

        def watch() -> None:
            while set(folder.glob("*.parquet")) == before:
                time.sleep(0.001)
            die()

        threading.Thread(target=watch, daemon=True).start()
        return original(spark, where, table_or_merge, *more)

    setattr(maintain, name, watched)


def main(point: str, arguments: list[str]) -> int:
    """Run `stream`, or `maintain`, with `arguments`."""
    from jobs.cli import main as run

    if point in MAINTAIN_POINTS:
        die_amid_upkeep(MAINTAIN_POINTS[point], arguments[arguments.index("--warehouse") + 1])
        return run(["maintain", *arguments])
    if point in CALLS:
        die_at_call(*CALLS[point])
    elif point == STATE_COMMIT:
        die_amid_state_commit(arguments[arguments.index("--warehouse") + 1])
    return run(["stream", *arguments])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
