"""Delete computed tables, so that they are computed anew.

lanes: the tables that lanes wrote, their checkpoint and their rows in batch_manifest; dispatch_events and quarantine stay, and the next
`stream --once` computes from them. all: every checkpoint and every table but run_ledger and query_progress, which are history and cannot
be computed again; the next `stream --once` reads the log again.
dispatch_events may no longer hold the events of some rows. Those rows could not come back, so `lanes` refuses, and names their brokers and
dates. With --lose-history it deletes them.
"""

import argparse
import sys
import uuid
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
    parser.add_argument("--events", metavar="URI", help="of the log; for the command that is named at the end, if it is to be read again")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--lose-history", action="store_true", help="also delete rows of events that are no longer there")


def run(args: argparse.Namespace) -> int:
    """Delete; BadConfig unless confirmed, BadWarehouse where no warehouse is or a driver writes."""
    from console.heartbeat import Heartbeat
    from console.named_warehouse import existing_warehouse
    from console.shown import say
    from driver.locked import locked
    from pipeline.query.newest_room import NewestRoom
    from pipeline.repair.rebuild import forget_all, forget_lanes
    from pipeline.warehouse.guard import refuse_loaded
    from pipeline.warehouse.lock import UpkeepLock

    what = args.what
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

    from driver.advice import one_line_cause
    from pipeline.upkeep.before_bronze import dates_before_bronze

    nevertheless = "To delete it nevertheless, pass --lose-history"
    try:
        lost = "; ".join(map(str, dates_before_bronze(warehouse)))
    except (ArrowException, DeltaError, OSError) as fault:
        raise BadConfig(f"nobody knows whether all can be computed again: {one_line_cause(fault)}. {nevertheless}") from fault
    if lost:
        raise BadConfig(f"the events that lanes computed this from are gone, it cannot be computed again: {lost}. {nevertheless}")
