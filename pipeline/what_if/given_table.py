"""Given rows of a replay as numbers, int64 [n, WIDTH]: (ns, kind, who, and what the kind needs)."""

import numpy as np

from pipeline.rules.array import Array

WIDTH = 7


def rows_of(ns: Array, kind: int, who: Array | int, *more: Array | int) -> Array:
    """Rows of one kind."""
    rows = np.zeros((len(ns), WIDTH), dtype=np.int64)
    for column, values in enumerate((ns, kind, who, *more)):
        rows[:, column] = values
    return rows


def by_time(*parts: Array) -> Array:
    """The rows of all parts by time; of one instant those of an earlier part first."""
    rows = np.concatenate(parts)
    return np.take(rows, np.argsort(rows[:, 0], kind="stable"), axis=0)
