"""Values and questions that a package declares in SQL, once more by columns: each package has a module by_columns with both.

Only who reads events from files imports these modules: they need Arrow, the declarations do not.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ByColumns:
    """`of` gets the Arrow arrays of `columns` of bronze and gives an array with a value, or null, for each event."""

    columns: tuple[str, ...]
    of: Callable[..., Any]
