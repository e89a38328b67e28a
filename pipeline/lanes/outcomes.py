"""Outcomes as numbers (schemas/outcomes.py)."""

from collections.abc import Sequence

import numpy as np

from pipeline.rules.array import Array
from pipeline.rules.outcome import Rows
from schemas.outcomes import OUTCOME_COLUMNS

_IDS = frozenset(("topic_id", "sub_id"))
_POSITIONS = {table: {name: position for position, name in enumerate(columns)} for table, columns in OUTCOME_COLUMNS.items()}


def encoded(table: str, parts: Sequence[Rows]) -> Array:
    """int64 [len(OUTCOME_COLUMNS[table]), rows of all parts], which are of this table; ids that are not given are 0.

    Raises KeyError for a column that is missing, or not of the table.
    """
    positions = _POSITIONS[table]
    columns = np.zeros((len(positions), sum(part.count for part in parts)), dtype=np.int64)
    start = 0
    for part in parts:
        if positions.keys() - _IDS != part.columns.keys() - _IDS:
            raise KeyError(f"outcome of {table}: missing or unknown {sorted((positions.keys() ^ part.columns.keys()) - _IDS)}")
        stop = start + part.count
        for name, value in part.columns.items():
            columns[positions[name], start:stop] = value
        start = stop
    return columns
