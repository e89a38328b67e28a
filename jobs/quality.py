"""Judge the rows of the tables: nulls, ranges, sets and keys as declared, and the invariants by which tables agree with each other.

Reads one consistent cut (all tables as whole micro-batches left them), takes no lock and writes only the table quality_results: it may run
beside a live job, at any time. For a scheduler: exit 0 all holds; 1 something is broken, a line for each; 2 it could not be judged.
"""

import argparse
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from console.chosen_tables import chosen_tables
from console.named_warehouse import look_at
from pipeline.visible import visible
from schemas.tables import JOB_TABLES

if TYPE_CHECKING:
    from pipeline.query.room import ReadingRoom
    from pipeline.upkeep.quality.finding import Finding

EXAMPLES = """examples:
  ./spark-submit.sh quality --warehouse /data/warehouse
  ./spark-submit.sh quality --warehouse /data/warehouse --docs ./quality-docs
  ./spark-submit.sh quality --warehouse /data/warehouse --tables subscription_backlog,topic_backlog
  ./spark-submit.sh sql "SELECT * FROM quality_results WHERE NOT success" --warehouse /data/warehouse
"""
#: What DuckDB may hold. With a gigabyte it is as fast over ten million events as with two.
MOST_MEMORY = "1GB"
TABLE_NAMES = tuple(table.name for table in JOB_TABLES)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `quality`."""
    parser.add_argument("--warehouse", required=True, metavar="URI", help="folder of the Delta tables")
    parser.add_argument("--docs", type=Path, metavar="DIR", help="write Data Docs (HTML) into this local folder, replacing those in it")
    parser.add_argument(
        "--tables",
        metavar="NAMES",
        help="these tables only, with commas between, and the invariants that read no other (default: all but quality_results itself)",
    )


def run(args: argparse.Namespace) -> int:
    """0 if all holds, 1 if not; BadConfig for a table or folder that cannot be, BadWarehouse where no warehouse is."""
    from pipeline.upkeep.quality.docs import check_docs_folder

    tables = chosen_tables(args.tables, TABLE_NAMES)
    if args.docs is not None:
        check_docs_folder(args.docs)
    findings = judge_warehouse(look_for(args.warehouse, tables), tables, args.docs)
    broken = [finding for finding in findings if not finding.success]
    for finding in broken:
        print(f"BROKEN {visible(finding.line)}")
    print(f"{len(findings) - len(broken):,} of {len(findings):,} hold" + (f"; {args.docs / 'index.html'}" if args.docs else ""))
    return 1 if broken else 0


def look_for(uri: str, tables: Sequence[str]) -> "ReadingRoom":
    """A look at the newest consistent cut. Raises BadWarehouse where one of the tables cannot be read, before the first is judged."""
    room = look_at(uri, tables, consistent=True, most_memory=MOST_MEMORY)
    for table in tables:
        room.columns(table)  # it opens the table
    return room


def judge_warehouse(look: "ReadingRoom", tables: Sequence[str], docs: Path | None) -> "list[Finding]":
    """Findings on the consistent cut of `look`, appended to quality_results; with `docs` Data Docs are written there, too."""
    from driver.this_machine import utc_now
    from pipeline import VERSION
    from pipeline.upkeep.quality.docs import clear_docs_folder
    from pipeline.upkeep.quality.judge import judge
    from pipeline.upkeep.quality.results import append_findings
    from pipeline.upkeep.quality.validation import Validation
    from pipeline.warehouse.tables import make_report_table
    from schemas.tables.quality import QUALITY_RESULTS

    run_id, run_at = str(uuid.uuid4()), utc_now()
    make_report_table(look.warehouse, QUALITY_RESULTS)
    validation = Validation(run_id, run_at)
    findings: list[Finding] = []
    assert look.cut is not None
    for finding in judge(look, look.cut, tables, validation):
        if finding.kind in ("key", "invariant"):
            print(f"judged {finding.invariant or finding.table_name}", flush=True)
        findings.append(finding)
    append_findings(look.warehouse, findings, run_id=run_id, run_at=run_at, code_version=VERSION)
    if docs is not None:
        clear_docs_folder(docs)
        validation.write_docs(docs)
    return findings
