"""What a query's checkpoint holds: who the query is, what it planned and finished, where its sources stand, how large its state is, and
whether `stream` would go on from it.

Reads only, beside a running job, too. There is no reset: a checkpoint without its tables, or tables without their checkpoint, would skip or
double rows; what starts a query anew, with both, is `rebuild`.
"""

import argparse
import json
from collections.abc import Iterable
from typing import Any

from jobs.shown import print_document

EXAMPLES = """examples:
  ./spark-submit.sh checkpoint inspect --query lanes --warehouse /data/warehouse
  ./spark-submit.sh checkpoint inspect --query ingest --warehouse /data/warehouse --format json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `checkpoint`."""
    parser.add_argument("what", choices=("inspect",), help="say what is in it (to start a query anew: rebuild)")
    parser.add_argument("--query", required=True, choices=("ingest", "lanes"), help="whose")
    parser.add_argument("--warehouse", required=True, metavar="URI", help="folder of the Delta tables")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="json: one document (default: text)")


def run(args: argparse.Namespace) -> int:
    """Print it; 0 whatever is in it. BadWarehouse where no warehouse is."""
    from jobs.driver import existing_warehouse
    from jobs.session import LITTLE_DATA, build_session
    from pipeline.upkeep.inspect import inspect

    spark = build_session("dispatch-analytics checkpoint", LITTLE_DATA)
    document = inspect(spark, existing_warehouse(spark, args.warehouse), args.query)
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
