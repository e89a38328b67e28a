"""Rows as a table, CSV or JSON lines."""

import csv
import sys
from collections.abc import Sequence
from typing import Any

from console.shown import aligned
from pipeline.visible import visible_json


def write_rows(columns: Sequence[str], rows: Sequence[Sequence[Any]], form: str) -> None:
    """Print to stdout as an aligned table, CSV with a head, or JSON lines (times as ISO 8601).

    Names are visible in a table and, by JSON's own escapes, in JSON. CSV has no escapes: it has texts as they are.
    """
    if form == "json":
        for row in rows:
            print(visible_json(dict(zip(columns, row, strict=True)), str))
    elif form == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
    else:
        print(aligned(columns, rows, "--format json has all of it"))
