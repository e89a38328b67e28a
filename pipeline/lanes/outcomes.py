"""Outcomes as rows of int64 (schemas/outcomes.py)."""

import numpy as np

from pipeline.machines.array import Array
from pipeline.machines.outcome import Rows
from schemas.outcomes import OUTCOME_COLUMNS


def encode_rows(rows: Rows) -> Array:
    """int64 [rows.count, len(OUTCOME_COLUMNS[rows.table])]; ids that are not given are 0.

    Raises KeyError for a column that is missing, or not of the table.
    """
    columns = OUTCOME_COLUMNS[rows.table]
    unknown = set(rows.columns) - set(columns)
    missing = set(columns) - set(rows.columns) - {"topic_id", "sub_id"}
    if unknown or missing:
        raise KeyError(f"outcome of {rows.table}: unknown {sorted(unknown)}, missing {sorted(missing)}")
    encoded = np.zeros((rows.count, len(columns)), dtype=np.int64, order="F")
    for name, value in rows.columns.items():
        encoded[:, columns.index(name)] = value
    return encoded
