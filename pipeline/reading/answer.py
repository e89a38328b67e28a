"""What a statement of people gives, whoever answers."""

from typing import Any, NamedTuple


class Answer(NamedTuple):
    """Columns and rows of a query; times have the zone UTC. `more`: rows followed that were not asked for."""

    columns: list[str]
    rows: list[tuple[Any, ...]]
    more: bool = False
