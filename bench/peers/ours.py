"""Our side, in a process of its own as the peers are: bronze of one warehouse through the lanes to all tables of another, drained.

    python -m bench.peers.ours SOURCE TARGET

Prints `job seconds`, which begin when the session and the empty tables are there.
"""

import argparse
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.peers.beside import Beside
from driver.session import build_session
from pipeline.lanes.control import issue_drain
from pipeline.lanes.query import start_lanes
from pipeline.run_context import RunContext
from pipeline.settings import load_settings
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import create_missing_tables

TO_END: dict[str, Any] = {"availableNow": True}
SESSION = {"spark.master": "local[2]", "spark.driver.memory": "4g"}


def lanes(source: Path, target: Path) -> float:
    """Run the lanes over a whole log and drain it; returns the seconds."""
    spark = build_session("peers-ours", SESSION)
    warehouse, settings = Beside(str(target), Warehouse(str(source))), load_settings(None, [], {})
    run = RunContext(str(uuid.uuid4()), "bench", lambda: datetime.now(UTC), lambda: None, lambda _: None)
    create_missing_tables(warehouse)
    began = time.perf_counter()
    start_lanes(spark, warehouse, settings, run, TO_END).awaitTermination()
    issue_drain(warehouse, run)
    start_lanes(spark, warehouse, settings, run, TO_END).awaitTermination()
    seconds = time.perf_counter() - began
    spark.stop()
    return seconds


def main() -> None:
    """Read arguments, run, print."""
    parser = argparse.ArgumentParser(prog="bench.peers.ours", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    args = parser.parse_args()
    print(f"job seconds {lanes(args.source, args.target):.3f}")


if __name__ == "__main__":
    main()
