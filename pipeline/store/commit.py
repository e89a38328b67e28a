"""A version of a Delta table, by its log."""

from datetime import datetime
from typing import NamedTuple


class Commit(NamedTuple):
    """A version of a table: what made it, when (by its file in the log), the tag that its writer left in `userMetadata`.

    `is_blind_append` is None where the writer does not say it.
    """

    version: int
    operation: str
    at: datetime
    is_blind_append: bool | None
    tag: str | None
