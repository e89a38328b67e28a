"""Commits that give way to others."""

from collections.abc import Callable
from typing import TypeVar

from deltalake.exceptions import CommitFailedError

from pipeline.faults import BadWarehouse

#: A commit that read a table gives way to every append beside it, and is tried again. Appends come some seconds apart.
ATTEMPTS = 20
Result = TypeVar("Result")


def despite_appends(table: str, commit: Callable[[], Result]) -> Result:
    """What `commit` gives, tried again while appends to `table` come between. Raises BadWarehouse if they did each time."""
    for attempt in range(ATTEMPTS):
        try:
            return commit()
        except CommitFailedError as fault:
            if attempt == ATTEMPTS - 1:
                refused = (
                    f"{table}: rows could not be replaced or deleted, {ATTEMPTS} times somebody else wrote first; run this again later"
                )
                raise BadWarehouse(refused) from fault
    raise AssertionError
