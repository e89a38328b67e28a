"""Put rejected lines back: those that the parser accepts now, or that somebody repaired, go from quarantine into dispatch_events, once.

replay: parses the lines of quarantine again with this version. A line that is an event now is put into dispatch_events and leaves
quarantine; the rest stays, with its present reason. A line of which quarantine has only the beginning, or whose file ended in it, needs
--from. Stop `stream` first, start it afterwards: lanes then make late events of them. --dry-run may run beside it. After a crash run the
replay again.
"""

import argparse
import os
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from console.shown import aligned_lines, print_document
from pipeline.faults import BadConfig

EXAMPLES = """examples:
  ./spark-submit.sh quarantine replay --warehouse /data/warehouse --dry-run
  ./spark-submit.sh quarantine replay --warehouse /data/warehouse --where "reason = 'unknown_version'"
  ./spark-submit.sh sql "SELECT source_file, source_line, raw_sha256, raw FROM quarantine" --warehouse /data/warehouse --format json
  ./spark-submit.sh quarantine replay --warehouse /data/warehouse --from repaired.jsonl   # raw was repaired in them
"""


_INTERRUPTED = {
    "finished": "its events were in dispatch_events, so their lines left quarantine now",
    "undone": "none of its events was in dispatch_events, so it is as if it had not begun",
    "waits": "it will be ended first",
}
_WHY = {
    "cut": "not judged: quarantine has not the whole text, or their file ended in them: repair the text and pass --from",
    "unfinished": "not judged: their micro-batch of ingest is not finished: ./spark-submit.sh stream goes on with it",
    "not_found": "lines of --from are not in quarantine (put back already? another --where?)",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `quarantine`."""
    from console.settings_arguments import add_settings_arguments

    parser.add_argument("what", choices=("replay",), help="parse lines again, and put back those that are events now (to see them: sql)")
    parser.add_argument("--warehouse", required=True, metavar="URI", help="folder of the Delta tables")
    parser.add_argument("--where", metavar="SQL", help="only lines that keep this condition on columns of quarantine (default: all)")
    parser.add_argument(
        "--from",
        dest="repaired",
        type=Path,
        metavar="FILE",
        help="only the lines in this file, repaired: JSON lines with source_file, source_line, raw_sha256 as in quarantine, and raw",
    )
    parser.add_argument("--dry-run", action="store_true", help="only show the changes")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="json: one document, as the last line (default: text)")
    add_settings_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Do it and print what was done; BadConfig for a file, condition or setting that is none, BadWarehouse where somebody writes."""
    from pipeline.repair.quarantine.repaired_lines import read_repaired
    from pipeline.settings import load_settings

    repaired = None
    if args.repaired is not None:
        try:
            with args.repaired.open(encoding="utf-8", newline="\n") as lines:
                repaired = read_repaired(lines, str(args.repaired))
        except (OSError, UnicodeDecodeError) as fault:
            raise BadConfig(f"--from {args.repaired}: {fault}") from fault
    settings = load_settings(args.settings, args.overrides, os.environ).ingest
    document = replay_warehouse(args.warehouse, settings, args.where, repaired, changes=not args.dry_run)
    print_document(document, args.format, text_lines)
    return 0


def replay_warehouse(uri: str, settings: Any, where: str | None, repaired: Any, *, changes: bool) -> dict[str, Any]:
    """`replay` under both locks of the warehouse: nobody else writes rows, or files, of its tables meanwhile. A dry run needs none."""
    from console.named_warehouse import existing_warehouse
    from driver.locked import locked
    from driver.this_machine import utc_now
    from pipeline import VERSION
    from pipeline.repair.quarantine.put_back import ReplayRun
    from pipeline.repair.quarantine.replay import Request, replay
    from pipeline.sources.kind import parse_limits
    from pipeline.warehouse.lock import UpkeepLock
    from schemas.tables import JOB_TABLES

    limits, request, run_id = parse_limits(settings), Request(where, repaired, changes), str(uuid.uuid4())
    warehouse = existing_warehouse(uri, [table.name for table in JOB_TABLES])
    if not changes:
        return replay(warehouse, limits, request, ReplayRun(run_id, VERSION, utc_now(), lambda: None))
    with locked(warehouse, run_id) as driver, locked(warehouse, run_id, UpkeepLock) as upkeep:

        def verify() -> None:
            driver.verify()
            upkeep.verify()

        return replay(warehouse, limits, request, ReplayRun(run_id, VERSION, utc_now(), verify))


def text_lines(document: dict[str, Any]) -> Iterable[str]:
    """What was done, what stays and why, and what to do next."""
    would = "would be " if document["dry_run"] else ""
    yield f"{document['warehouse']}"
    if document["interrupted"]:
        yield f"an interrupted replay: {_INTERRUPTED[document['interrupted']]}"
    number = "" if document["replay"] is None else f" (replay {document['replay']})"
    yield f"{document['put_back']:,} lines {would}put back into dispatch_events{number}"
    if document["reasons"]:
        yield from aligned_lines(["stay in quarantine", "lines"], list(document["reasons"].items()))
    if document["told_anew"]:
        yield f"{document['told_anew']:,} of them have another reason or detail now"
    for key, words in _WHY.items():
        if document[key]:
            yield f"{document[key]:,} {words}"
    for line in document["still_rejected"]:
        yield f"still rejected: line {line['source_line']} of {line['source_file'] or 'a table'}: {line['reason']}: {line['detail']}"
    if document["dates"]:
        yield from aligned_lines(["broker", "date", "events"], [list(date.values()) for date in document["dates"]])
    if document["put_back"] and not document["dry_run"]:
        yield (
            "next: ./spark-submit.sh stream, which makes late_events of those whose place is given up; "
            "then ./spark-submit.sh backfill --pending counts them on these dates"
        )
