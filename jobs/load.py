"""Load a finished log into a new warehouse: the tables of `stream --once --drain`, without Spark, several times faster.

For files, and a warehouse that does not exist yet, both here or elsewhere: it appears when all is written, whole.
Nothing is read into it later. A log that goes on, a topic, a Delta table: use `stream`.
"""

import argparse
import os
import signal
import sys
import time
import uuid
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.faults import BadConfig
from pipeline.store.address import local_path
from pipeline.visible import visible

if TYPE_CHECKING:
    from pipeline.load.load import Loaded
    from pipeline.warehouse.layout import Warehouse
    from pipeline.warehouse.lock import DriverLock
    from pipeline.warehouse.look import Queries

EXAMPLES = """examples:
  ./spark-submit.sh load --events /var/log/pulsar-events --warehouse ./warehouse/incident
  ./spark-submit.sh load --events 'captures/**/events.jsonl*' --warehouse ./warehouse/captures
  ./spark-submit.sh load --events /var/log/pulsar-events --warehouse s3a://bucket/incident
  ./spark-submit.sh why --all --warehouse ./warehouse/incident
"""
#: In run_ledger, where a run of Spark has its version.
NO_VERSION = "none"
#: In batch_manifest: one of each query.
MICRO_BATCHES = 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `load`."""
    from jobs.stream import add_settings_arguments

    parser.add_argument("--events", required=True, metavar="PATH", help="folder (with subfolders), file or glob of the log's files")
    parser.add_argument("--warehouse", required=True, metavar="URI", help="folder of the Delta tables; it must not exist, or be empty")
    parser.add_argument("--processes", type=_count, metavar="N", help="how many work at once (default: one for each core)")
    add_settings_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Load; 0 when the warehouse is there, 1 if no line is an event, if a process was killed, or if the disk refused.

    Raises BadConfig for arguments that cannot work, BadWarehouse for files that cannot be read.
    """
    from deltalake.exceptions import DeltaError

    from jobs.advice import disk_advice, one_line_cause
    from jobs.books import growth_words, lines_of
    from jobs.reader import look_at
    from pipeline.settings import load_settings

    settings = load_settings(args.settings, args.overrides, os.environ)
    root = _root_of(args)
    # As Ctrl-C does: what was begun is removed.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        loaded = load_log(args.events, root, settings, args.processes or len(os.sched_getaffinity(0)), _say)
    except BrokenProcessPool:
        print("error: a process of the load was killed. If memory ran out: fewer --processes, or `stream`", file=sys.stderr)
        return 1
    except (OSError, DeltaError) as fault:
        known = disk_advice(str(fault))
        if known is None:
            raise
        print(visible(f"error: {_shown(root)}: {known} ({one_line_cause(fault)})"), file=sys.stderr)
        return 1
    for line in (*lines_of(loaded.books), *([growth_words(loaded.grown_files)] if loaded.grown_files else [])):
        _say(line)
    return said_of_no_event(look_at(root))


def said_of_no_event(look: "Queries") -> int:
    """1 if lines were read and none of them is an event, which a line on stderr says, with the likely mistake; else 0."""
    from pipeline.verdict.no_event import no_event_words

    words = no_event_words(look)
    if words is not None:
        print(f"error: {visible(words)}", file=sys.stderr)
    return 0 if words is None else 1


def load_log(events: str, root: str, settings: Any, processes: int, report: Callable[[str], None]) -> "Loaded":
    """`load` of `events` to the warehouse at `root`."""
    from jobs import VERSION
    from jobs.compiled_rules import tidy_compiled_rules
    from jobs.processes import utc_now
    from jobs.run_row import begun_row
    from pipeline.load.appearance import appearing, refuse_what_is_there
    from pipeline.load.load import Log, load
    from pipeline.load.processes import Processes
    from pipeline.run_context import RunContext
    from pipeline.sinks.append import append_rows
    from pipeline.sources.detect import open_files
    from pipeline.sources.nothing import nothing_words
    from pipeline.warehouse.layout import Warehouse
    from schemas.tables.watch import RUN_LEDGER

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
    report(
        f"loaded {len(files):,} files, {sum(file.length for file in files):,} bytes, in {time.monotonic() - began_s:.1f} s: {_shown(root)}"
    )
    return loaded


def _lock_of(run_id: str, say: Callable[[str], None], warehouse: "Warehouse") -> "DriverLock":
    """The lock of a warehouse that is uploaded."""
    from jobs.processes import is_alive, this_driver, utc_now
    from pipeline.store.files import files_at
    from pipeline.warehouse.lock import DriverLock

    return DriverLock(files_at(warehouse.root), warehouse, this_driver(run_id), utc_now, is_alive, say)


def _root_of(args: argparse.Namespace) -> str:
    """Of the warehouse. Raises BadConfig for a place where no warehouse can be."""
    from jobs.reader import named_warehouse

    root = named_warehouse(args.warehouse).root
    if local_path(root) is not None:
        root = f"file:{Path(str(local_path(root))).resolve()}"
    return root


def _shown(root: str) -> str:
    """The place as a person names it."""
    return root.removeprefix("file:")


def _count(text: str) -> int:
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError(f"{text}: must be 1 or more")
    return count


def _say(line: str) -> None:
    print(visible(line), flush=True)


def _nobody_else_writes() -> None:
    """No gate before a micro-batch: the warehouse is not there yet."""
