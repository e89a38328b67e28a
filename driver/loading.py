"""`load` in this process: its warehouse, its processes, and its rows in run_ledger."""

import time
import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

from driver.run_row import begun_row
from driver.this_machine import is_alive, this_driver, utc_now
from pipeline import VERSION
from pipeline.faults import BadConfig
from pipeline.load.load import Loaded, Log, load
from pipeline.load.processes import Processes
from pipeline.load.publication import appearing, refuse_what_is_there
from pipeline.run_context import RunContext
from pipeline.sources.empty_place import nothing_words
from pipeline.sources.kind import open_files
from pipeline.store.files import files_at
from pipeline.warehouse.append import append_rows
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.lock import DriverLock
from schemas.tables.watch import RUN_LEDGER
from tools.compiled_rules import tidy_compiled_rules

#: In run_ledger, where a run of Spark has its version.
NO_VERSION = "none"
#: In batch_manifest: one of each query.
MICRO_BATCHES = 2


def load_log(events: str, root: str, settings: Any, processes: int, report: Callable[[str], None]) -> Loaded:
    """`load` of `events` to the warehouse at `root`."""
    began_s = time.monotonic()
    with Processes(processes) as workers:
        refuse_what_is_there(root)
        source = open_files(events, settings)
        files = source.listing()
        if not files:
            raise BadConfig(f"--events {events}: {nothing_words(source.place)}")
        tidy_compiled_rules(utc_now().timestamp(), report)
        run = RunContext(str(uuid.uuid4()), VERSION, utc_now, _nobody_else_writes, time.sleep)
        begun = {**begun_row("load", "drain", events, run, settings, NO_VERSION), "lost": None}
        with appearing(root, partial(_lock_of, run.run_id, report)) as folder:
            warehouse = Warehouse(f"file:{folder}")
            loaded = load(Log(source, files), warehouse, settings, run, workers, report)
            end = {"event": "ended", "ended_at": run.now(), "outcome": "done", "micro_batches": MICRO_BATCHES, "unrecorded": MICRO_BATCHES}
            append_rows(warehouse, RUN_LEDGER, [begun, {**begun, **end}])
    read = f"{len(files):,} files, {sum(file.length for file in files):,} bytes"
    report(f"loaded {read}, in {time.monotonic() - began_s:.1f} s: {root.removeprefix('file:')}")
    return loaded


def _lock_of(run_id: str, say: Callable[[str], None], warehouse: Warehouse) -> DriverLock:
    """The lock of a warehouse that is uploaded."""
    return DriverLock(files_at(warehouse.root), warehouse, this_driver(run_id), utc_now, is_alive, say)


def _nobody_else_writes() -> None:
    """No gate before a micro-batch: the warehouse is not there yet."""
