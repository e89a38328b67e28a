"""Our side without Spark: bronze of one warehouse through the lanes to all tables of another, as `load` computes them.

    python -m bench.peers.ours_loaded SOURCE TARGET

Prints `job seconds`, which begin when the modules are imported. It makes the empty tables, too.
"""

import argparse
import os
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path

from bench.peers.beside import Beside
from pipeline.lanes.timing import lane_timing
from pipeline.load.lanes import Folding, begin_lanes, broker_logs, write_outcomes
from pipeline.load.packets import packet_places
from pipeline.load.processes import Processes
from pipeline.run_context import RunContext
from pipeline.settings import load_settings
from pipeline.sources.kind import parse_limits
from pipeline.store.address import local_path
from pipeline.store.arrow_reader import arrow_rows
from pipeline.store.table_log import opened
from pipeline.warehouse.guard import loaded_id
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import create_missing_tables


def lanes(source: Path, target: Path) -> None:
    """Run the lanes over a whole log and drain it."""
    warehouse, settings = Beside(str(target), Warehouse(str(source))), load_settings(None, [], {})
    run = RunContext(str(uuid.uuid4()), "bench", lambda: datetime.now(UTC), lambda: None, lambda _: None)
    with Processes(len(os.sched_getaffinity(0))) as processes:
        create_missing_tables(warehouse)
        files = [str(local_path(file)) for file in opened(warehouse.table("dispatch_events")).file_uris()]
        folding = Folding(lane_timing(settings), warehouse, run.run_id, arrow_rows(warehouse.table("names")))
        lanes = begin_lanes(processes, broker_logs(packet_places(files), []), folding)
        folded = [lane.result() for lane in lanes]
    write_outcomes(warehouse, folded, run, loaded_id("lanes", run.run_id), parse_limits(settings.ingest))


def main() -> None:
    """Read arguments, run, print."""
    parser = argparse.ArgumentParser(
        prog="bench.peers.ours_loaded", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    args = parser.parse_args()
    began = time.perf_counter()
    lanes(args.source, args.target)
    print(f"job seconds {time.perf_counter() - began:.3f}")


if __name__ == "__main__":
    main()
