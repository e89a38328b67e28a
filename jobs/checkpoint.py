"""The contents of a query's checkpoint, or a checkpoint begun anew.

inspect shows who the query is, what it planned and finished, where its sources stand and how large its state is. It also shows whether
`stream` would go on from the checkpoint. It reads only, beside a running job, too.
reset lets the query begin anew, with its tables: of lanes it is `rebuild lanes`, of ingest `rebuild all`, for lanes read what ingest wrote.
A checkpoint without its tables, or tables without their checkpoint, would skip or double rows.
"""

import argparse
import json
from collections.abc import Iterable
from typing import Any

from jobs import rebuild
from jobs.shown import print_document
from pipeline.warehouse.layout import QUERIES, REBUILT_WITH

EXAMPLES = """examples:
  ./spark-submit.sh checkpoint inspect --query lanes --warehouse /data/warehouse
  ./spark-submit.sh checkpoint inspect --query ingest --warehouse /data/warehouse --format json
  ./spark-submit.sh checkpoint reset --query lanes --warehouse /data/warehouse
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `checkpoint`."""
    actions = parser.add_subparsers(dest="what", required=True, metavar="ACTION")
    looks = actions.add_parser("inspect", help="show its contents", allow_abbrev=False)
    resets = actions.add_parser("reset", help="begin anew, with the tables, as rebuild does", allow_abbrev=False)
    for action in (looks, resets):
        action.add_argument("--query", required=True, choices=QUERIES, help="whose")
        action.add_argument("--warehouse", required=True, metavar="URI", help="folder of the Delta tables")
    looks.add_argument("--format", choices=("text", "json"), default="text", help="json: one document (default: text)")
    rebuild.add_consent(resets)


def run(args: argparse.Namespace) -> int:
    """inspect: print it; 0 whatever is in it. reset: as `rebuild`. BadWarehouse where no warehouse is."""
    if args.what == "reset":
        return rebuild.forget(REBUILT_WITH[args.query], args)
    return _inspect(args)


def _inspect(args: argparse.Namespace) -> int:
    from jobs.reader import existing_warehouse
    from jobs.session import LITTLE_DATA, build_session
    from pipeline.upkeep.inspect import inspect

    spark = build_session("dispatch-analytics checkpoint", LITTLE_DATA)
    document = inspect(spark, existing_warehouse(args.warehouse), args.query)
    print_document(document, args.format, text_lines)
    return 0


def text_lines(document: dict[str, Any]) -> Iterable[str]:
    """For a person: whether it fits first, what to do last."""
    yield f"checkpoint  {document['folder']}, {document['bytes']:,} bytes"
    yield f"fits        {'no: ' + document['refused'] if document['refused'] else 'yes: stream goes on from here'}"
    yield f"query       {document['query_id'] or 'none'}"
    yield f"planned     {document['planned'] if document['planned'] is not None else 'nothing'}"
    yield f"committed   {document['committed'] if document['committed'] is not None else 'nothing'}"
    for name, offset in (document["sources"] or {}).items():
        yield f"source      {name}: {json.dumps(offset)}"
    state = document["state"]
    if state is not None:
        formats = ", ".join(state["formats"]) or "no lane yet"
        yield f"state       {state['bytes']:,} bytes on disk, {state['partitions']} partitions, {state['store']}"
        yield f"            {state['lanes']} lanes: {formats}; this program reads {state['readable_format']}"
    yield f"anew with   {document['rebuild']}"
