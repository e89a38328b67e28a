"""Java's patterns of times, as Spark takes them, as those of DuckDB. A letter that has no equal there is refused by its name."""

import re

from sqlglot import exp

from pipeline.faults import BadConfig
from pipeline.query.missing_functions import ASK_SPARK

#: Letters as often as they stand there → DuckDB's. Times are in UTC, so their zone is a text. Source: Spark's page "Datetime Patterns".
_LETTERS = {
    "yyyy": "%Y", "y": "%Y", "yy": "%y", "uuuu": "%Y", "MM": "%m", "M": "%-m", "MMM": "%b", "MMMM": "%B", "dd": "%d", "d": "%-d",
    "HH": "%H", "H": "%-H", "hh": "%I", "h": "%-I", "mm": "%M", "m": "%-M", "ss": "%S", "s": "%-S", "SSS": "%g", "SSSSSS": "%f",
    "a": "%p", "E": "%a", "EE": "%a", "EEE": "%a", "EEEE": "%A", "D": "%-j", "DDD": "%j", "X": "Z", "XXX": "Z", "z": "UTC", "VV": "UTC",
}  # fmt: skip
#: A quoted text, a quote, a letter as often as it stands there, anything else.
_PART = re.compile(r"'(?P<text>(?:[^']|'')+)'|(?P<quote>'')|(?P<letters>(?P<letter>[A-Za-z])(?P=letter)*)|(?P<other>[^'A-Za-z])")
#: Spark's names of what a time is cut to → DuckDB's.
_UNITS = {
    **dict.fromkeys(("year", "yyyy", "yy"), "year"), **dict.fromkeys(("month", "mon", "mm"), "month"),
    **dict.fromkeys(("day", "dd"), "day"),
    **{name: name for name in ("quarter", "week", "hour", "minute", "second", "millisecond", "microsecond")},
}  # fmt: skip


def in_duckdb(pattern: exp.Expr, function: str) -> exp.Expr:
    """The pattern for strftime and strptime. Raises BadConfig for one that is no text, or has what they lack."""
    text = _text(pattern, f"the pattern of {function}")
    parts, place = [], 0
    while place < len(text):
        found = _PART.match(text, place)
        letters = found["letters"] if found else None
        if found is None or (letters is not None and letters not in _LETTERS):
            raise BadConfig(f"SQL: {function}: the pattern {text} has {letters or text[place]}, which is not answered here; {ASK_SPARK}")
        parts.append(_LETTERS[letters] if letters else _literal(found))
        place = found.end()
    return exp.Literal.string("".join(parts))


def unit_in_duckdb(unit: exp.Expr, function: str) -> exp.Expr:
    """What a time is cut to, by DuckDB's name. Raises BadConfig for what is none."""
    name = _text(unit, f"the unit of {function}")
    if name.lower() not in _UNITS:
        raise BadConfig(f"SQL: {function}: there is no unit {name}; those are {', '.join(sorted(_UNITS))}")
    return exp.Literal.string(_UNITS[name.lower()])


def _literal(found: "re.Match[str]") -> str:
    text = "'" if found["quote"] else found["other"] or found["text"].replace("''", "'")
    return text.replace("%", "%%")


def _text(value: exp.Expr, what: str) -> str:
    if not (isinstance(value, exp.Literal) and value.is_string):
        raise BadConfig(f"SQL: {what} is no text in quotes; {ASK_SPARK}")
    return str(value.this)
