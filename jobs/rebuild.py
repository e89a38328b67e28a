"""Delete computed tables, so that they are computed anew.

lanes: the tables that lanes wrote, their checkpoint and their rows in batch_manifest; dispatch_events and quarantine stay, and the next
`stream --once` computes from them. all: every checkpoint and every table but run_ledger and query_progress, which are history and cannot
be computed again; the next `stream --once` reads the log again.
Rows that lanes computed of events that dispatch_events no longer holds cannot come back with `lanes`: that is refused, with the brokers and
dates. With --lose-history it is deleted.
"""

import argparse
import sys
import uuid
from collections.abc import Callable, Sequence
from typing import Any

from pipeline.faults import BadConfig

EXAMPLES = """examples:
  ./spark-submit.sh rebuild lanes --warehouse ./warehouse/demo
  ./spark-submit.sh rebuild lanes --warehouse ./warehouse/demo --yes --lose-history
  ./spark-submit.sh rebuild all --warehouse ./warehouse/demo --events /var/log/pulsar-events --yes
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `rebuild`."""
    parser.add_argument("what", choices=("lanes", "all"), help="lanes: keep the events read; all: read the log again")
    parser.add_argument("--warehouse", required=True, metavar="URI", help="folder of the Delta tables")
    add_consent(parser)


def add_consent(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of whatever rebuilds, besides what and where."""
    parser.add_argument("--events", metavar="URI", help="of the log; for the command that is named at the end, if it is to be read again")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--lose-history", action="store_true", help="also delete rows of events that are no longer there")


def run(args: argparse.Namespace) -> int:
    """Delete; BadConfig unless confirmed, BadWarehouse where no warehouse is or a driver writes."""
    return forget(args.what, args)


def forget(what: str, args: argparse.Namespace) -> int:
    """Delete `what` (lanes or all) in `args.warehouse`, given the arguments of `add_consent`; raises as `run` does."""
    from jobs.heartbeat import Heartbeat
    from jobs.locked import locked
    from jobs.reader import existing_warehouse
    from jobs.shown import say
    from pipeline.reading.newest import NewestRoom
    from pipeline.warehouse.guard import refuse_loaded
    from pipeline.warehouse.lock import UpkeepLock

    if not args.yes and not sys.stdin.isatty():
        raise BadConfig("rebuild deletes tables: pass --yes where nobody can be asked")
    warehouse = existing_warehouse(args.warehouse)
    if what == "lanes":
        refuse_loaded(NewestRoom(warehouse), "lanes")
    heartbeat = Heartbeat("rebuild", say)
    if what == "lanes" and not args.lose_history:
        heartbeat.step("looking whether all can be computed again")
        with heartbeat.beating():
            _refuse_to_lose_history(warehouse)
    if not args.yes and input(f"delete {_words(what)} in {warehouse.root}? [y/N] ").strip().lower() not in ("y", "yes"):
        raise BadConfig("nothing was deleted")
    run_id = str(uuid.uuid4())
    with locked(warehouse, run_id), locked(warehouse, run_id, UpkeepLock), heartbeat.beating():
        (forget_lanes if what == "lanes" else forget_all)(warehouse, heartbeat.say, heartbeat.step)
    events = args.events or "URI"
    say(f"now run: ./spark-submit.sh stream --once --events {events} --warehouse {args.warehouse}   (--drain for a log that ends; or live)")
    return 0


def _words(what: str) -> str:
    return "what lanes computed" if what == "lanes" else "every table that was computed and every checkpoint (the log must be there, whole)"


def _refuse_to_lose_history(warehouse: Any) -> None:
    from deltalake.exceptions import DeltaError
    from pyarrow import ArrowException

    from jobs.advice import one_line_cause
    from pipeline.upkeep.before_bronze import dates_before_bronze

    nevertheless = "To delete it nevertheless, pass --lose-history"
    try:
        lost = "; ".join(map(str, dates_before_bronze(warehouse)))
    except (ArrowException, DeltaError, OSError) as fault:
        raise BadConfig(f"nobody knows whether all can be computed again: {one_line_cause(fault)}. {nevertheless}") from fault
    if lost:
        raise BadConfig(f"the events that lanes computed this from are gone, it cannot be computed again: {lost}. {nevertheless}")


def _nobody_watches(_step: str) -> None:
    """Steps that nobody asked for."""


def forget_lanes(warehouse: Any, say: Callable[[str], None], step: Callable[[str], None] = _nobody_watches) -> None:
    """Delete what lanes wrote. An interruption at any point leaves a warehouse that is refused with the advice to run this again.

    Hence the order: the checkpoint first, the rows of batch_manifest that the guard compares it with last.
    """
    from pipeline.store.files import files_at
    from pipeline.store.table_log import newest_version_at, opened
    from pipeline.warehouse.layout import WRITTEN_BY
    from pipeline.warehouse.tables import make_as_declared
    from pipeline.warehouse.writer_mark import marked
    from schemas.tables.bookkeeping import LANE_CONTROL

    files = files_at(warehouse.root)
    files.write(warehouse.rebuild_marker, "lanes")
    _delete(files, [warehouse.checkpoint("lanes"), *(warehouse.table(table) for table in WRITTEN_BY["lanes"])], say, step)
    step("deleting rows of lanes from lane_control and batch_manifest")
    # Tombstones mark rejected lines and stay true. A drain would end the new run where the old one ended.
    if newest_version_at(warehouse.table("lane_control")) >= 0:
        opened(warehouse.table("lane_control")).delete("kind <> 'tombstone'", commit_properties=marked())
        say("lane_control: all but tombstones deleted")
        make_as_declared(warehouse, LANE_CONTROL)
    opened(warehouse.table("batch_manifest")).delete("query = 'lanes'", commit_properties=marked())
    say("batch_manifest: rows of lanes deleted")


def forget_all(warehouse: Any, say: Callable[[str], None], step: Callable[[str], None] = _nobody_watches) -> None:
    """Delete every checkpoint and every table but WATCH_TABLES; batch_manifest last, for the same reason."""
    from pipeline.store.files import files_at
    from pipeline.warehouse.layout import QUERIES
    from schemas.tables import TABLES, WATCH_TABLES

    files = files_at(warehouse.root)
    files.delete(warehouse.replay_marker)  # what an interrupted replay would go on with is deleted, too
    forgotten = [table.name for table in TABLES if table not in WATCH_TABLES and table.name != "batch_manifest"]
    tables = [warehouse.table(name) for name in [*forgotten, "batch_manifest"]]
    _delete(files, [*(warehouse.checkpoint(query) for query in QUERIES), *tables], say, step)


def _delete(files: Any, uris: Sequence[str], say: Callable[[str], None], step: Callable[[str], None]) -> None:
    for number, uri in enumerate(uris, 1):
        step(f"deleting folder {number} of {len(uris)}")
        if files.delete(uri):
            say(f"deleted {uri}")
