"""A value of an event that is no column of bronze: computed in SQL where Spark has the events, by Arrow where they are read from files."""

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa


@dataclass(frozen=True)
class Computed:
    """`sql`: the expression over bronze's columns. `by_arrow`: the same of the arrays of `columns`, a value (or null) for each event.

    tests/lanes/test_projections.py holds both against each other.
    """

    sql: str
    columns: tuple[str, ...]
    by_arrow: Callable[..., pa.Array]
