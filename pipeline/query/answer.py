"""What a statement of people gives, whoever answers."""

from typing import Any, NamedTuple


class Answer(NamedTuple):
    """Columns and rows of a query; times have the zone UTC. `more`: rows followed that were not asked for.

    `is_plan`: of EXPLAIN. The rows are the lines of a drawing, each as wide as it is.
    """

    columns: list[str]
    rows: list[tuple[Any, ...]]
    more: bool = False
    is_plan: bool = False
