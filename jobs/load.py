"""Load a finished log into a new warehouse: the tables of `stream --once --drain`, without Spark, several times faster.

For files, and a warehouse that does not exist yet, both here or elsewhere: it appears when all is written, whole.
Nothing is read into it later. A log that goes on, a topic, a Delta table: use `stream`.
"""

import argparse
import os
import signal
import sys
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from console.no_event import said_of_no_event
from console.settings_arguments import add_settings_arguments
from pipeline.store.address import local_path
from pipeline.visible import visible

EXAMPLES = """examples:
  ./spark-submit.sh load --events /var/log/pulsar-events --warehouse ./warehouse/incident
  ./spark-submit.sh load --events 'captures/**/events.jsonl*' --warehouse ./warehouse/captures
  ./spark-submit.sh load --events /var/log/pulsar-events --warehouse s3a://bucket/incident
  ./spark-submit.sh why --all --warehouse ./warehouse/incident
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `load`."""
    parser.add_argument("--events", required=True, metavar="PATH", help="folder (with subfolders), file or glob of the log's files")
    parser.add_argument("--warehouse", required=True, metavar="URI", help="folder of the Delta tables; it must not exist, or be empty")
    parser.add_argument("--processes", type=_count, metavar="N", help="how many work at once (default: one for each core)")
    add_settings_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Load; 0 when the warehouse is there, 1 if no line is an event, if a process was killed, or if the disk refused.

    Raises BadConfig for arguments that cannot work, BadWarehouse for files that cannot be read.
    """
    from deltalake.exceptions import DeltaError

    from console.named_warehouse import look_at
    from driver.advice import disk_advice, one_line_cause
    from driver.books import growth_words, lines_of
    from driver.loading import load_log
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


def _root_of(args: argparse.Namespace) -> str:
    """Of the warehouse. Raises BadConfig for a place where no warehouse can be."""
    from console.named_warehouse import named_warehouse

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
