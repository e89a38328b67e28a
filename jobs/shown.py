"""How answers are shown: tables and times for people, documents for people or programs."""

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime
from typing import Any


def print_document(document: dict[str, Any], form: str, text_lines: Callable[[dict[str, Any]], Iterable[str]]) -> None:
    """Print a document as one line of JSON (`form` is `json`; times as ISO 8601), or its lines for a person."""
    if form == "json":
        print(json.dumps(document, default=_json_value, ensure_ascii=False))
    else:
        for line in text_lines(document):
            print(line)


def _json_value(value: Any) -> str:
    if isinstance(value, datetime | date):
        return value.isoformat()
    raise TypeError(f"no JSON for {type(value)}")


def visible(text: str) -> str:
    """Names come out of a log that others write: what would steer a terminal, or turn a line around, is shown as its code."""
    return "".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in text)


def aligned(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table for people: columns as wide as their content, numbers to the right."""
    numeric = [bool(rows) and all(isinstance(row[k], int | float) or row[k] is None for row in rows) for k in range(len(columns))]
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max(len(line[k]) for line in [list(columns), *cells]) for k in range(len(columns))]

    def line(values: Sequence[str]) -> str:
        return "  ".join(v.rjust(w) if n else v.ljust(w) for v, w, n in zip(values, widths, numeric, strict=True)).rstrip()

    return "\n".join([line(columns), line(["-" * width for width in widths]), *(line(row) for row in cells)])


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.3f}" if isinstance(value, float) else str(value)


def in_utc(value: Any) -> Any:
    """Times in UTC; a naive one, as Spark's collect() gives, is of this process's local zone."""
    return value.astimezone(UTC) if isinstance(value, datetime) else value
