"""How a family of metrics is declared: the broker's name, type, labels and numbers, and the query that knows its values."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """A query with a row per set of labels; a column that is null is not known, and has no line."""

    #: What it is called on the page of documentation.
    name: str
    #: In Spark's dialect, its rows in the order of their lines.
    sql: str
    #: (label, column) in the broker's order.
    labels: tuple[tuple[str, str], ...]
    #: The instant that its values are of.
    as_of: str


@dataclass(frozen=True)
class Series:
    """One line of each row: the column that has its value, and what is the same in all rows."""

    column: str
    #: Labels after those of the row.
    labels: tuple[tuple[str, str], ...] = ()
    #: After the family's name, as `_bucket` of a histogram.
    suffix: str = ""


@dataclass(frozen=True)
class Family:
    """All lines under one `# TYPE`."""

    name: str
    type: str
    source: Source
    series: tuple[Series, ...]
    number: Callable[[int], str]
    meaning: str


def long_number(value: int) -> str:
    """As the broker writes a long."""
    return str(value)


def double_number(value: int) -> str:
    """A whole number as Java writes it as a double: `48.0`, from ten million on `1.2345678E7`."""
    if abs(value) < 10_000_000:
        return f"{value}.0"
    sign, digits = ("-", str(-value)) if value < 0 else ("", str(value))
    return f"{sign}{digits[0]}.{digits[1:].rstrip('0') or '0'}E{len(digits) - 1}"
