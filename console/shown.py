"""How answers are shown: tables and times for people, documents for people or programs."""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from pipeline.visible import WIDEST, cut_in_the_middle, document_json, visible


def print_document(document: dict[str, Any], form: str, text_lines: Callable[[dict[str, Any]], Iterable[str]]) -> None:
    """Print a document as one line of JSON (`form` is `json`; times as ISO 8601), or its lines for a person.

    Names in them are made visible; so a line of `text_lines` is one line.
    """
    if form == "json":
        print(document_json(document))
    else:
        for line in text_lines(document):
            print(visible(line))


def aligned(columns: Sequence[str], rows: Sequence[Sequence[Any]], whole: str = "") -> str:
    """A table for people, a line a row: columns as wide as their content, numbers to the right, names visible.

    A text that is longer than WIDEST is cut, so that one long name does not make every row as long. The last line then says so, and
    `whole`: how to see all of it.
    """
    numeric = [bool(rows) and all(isinstance(row[k], int | float) or row[k] is None for row in rows) for k in range(len(columns))]
    texts = [[visible(_cell(value)) for value in row] for row in [columns, *rows]]
    lines = [[cut_in_the_middle(text) for text in row] for row in texts]
    widths = [max(len(line[k]) for line in lines) for k in range(len(columns))]

    def line(values: Sequence[str]) -> str:
        return "  ".join(v.rjust(w) if n else v.ljust(w) for v, w, n in zip(values, widths, numeric, strict=True)).rstrip()

    shown = [line(lines[0]), line(["-" * width for width in widths]), *(line(row) for row in lines[1:])]
    if lines != texts:
        shown.append(f"texts of more than {WIDEST} characters are cut at …{f'; {whole}' if whole else ''}")
    return "\n".join(shown)


def aligned_lines(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    """The same as lines, for `print_document`."""
    return aligned(columns, rows).split("\n")


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


def say(line: str) -> None:
    """A progress line for the person who waits, or several; what is not printable of them is shown as its code."""
    print(visible(line, keep="\n"), flush=True)
