"""Values of a query as text, the same for Spark's and the room's Python: a decimal and a double of one number are one."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

#: Beyond these digits doubles differ by how they were summed.
_DIGITS = 12


def rows_text(rows: Sequence[Sequence[Any]], naive_is_local: bool = False) -> list[list[str]]:
    """Rows as texts. `naive_is_local`: a time without a zone is of this process's zone, as Spark's collect() gives it, else in UTC."""
    return [[_text(value, naive_is_local) for value in row] for row in rows]


def _text(value: Any, local: bool) -> str:
    if value is None or isinstance(value, bool | str):
        return repr(value)
    if isinstance(value, datetime):
        moment = value.astimezone(UTC) if local or value.tzinfo else value
        return f"{moment.replace(tzinfo=None)}"
    if isinstance(value, date | timedelta):
        return f"{value}"
    if isinstance(value, bytes | bytearray):
        return f"0x{bytes(value).hex()}"
    fields = value.asDict() if hasattr(value, "asDict") else value
    if isinstance(fields, dict):
        return "{" + ", ".join(sorted(f"{_text(key, local)}: {_text(one, local)}" for key, one in fields.items())) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_text(one, local) for one in value) + "]"
    return _number(value)


def _number(value: Any) -> str:
    return str(value) if isinstance(value, int) else f"{float(value):.{_DIGITS}g}" if float(value) % 1 else str(int(value))
