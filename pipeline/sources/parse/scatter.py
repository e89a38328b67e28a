"""Columns of pieces to one column in another order. A piece is the rows of one event type, so most columns are in few pieces.

`take` over a joined table would move every column of every row; here only the values that are there are moved.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Ints = npt.NDArray[np.int64]
#: A column of a piece, and the place of each of its rows.
Part = tuple[pa.Array, Ints]

_NUMBERS: dict[pa.DataType, np.dtype[Any]] = {pa.int64(): np.dtype(np.int64), pa.int32(): np.dtype(np.int32)}


def scattered(parts: Sequence[Part], kind: pa.DataType, rows: int) -> pa.Array:
    """An array of `kind` with `rows` values: those of the parts at their places, null everywhere else."""
    there = [(column, places) for column, places in parts if column.null_count < len(column)]
    if not there:
        return pa.nulls(rows, kind)
    if kind in _NUMBERS:
        return _numbers(there, kind, rows)
    if pa.types.is_boolean(kind):
        flags = _numbers([(column.cast(pa.int32()), places) for column, places in there], pa.int32(), rows)
        return flags.cast(kind)
    return _taken(there, rows)


def _numbers(parts: Sequence[Part], kind: pa.DataType, rows: int) -> pa.Array:
    values = np.zeros(rows, dtype=_NUMBERS[kind])
    valid = np.zeros(rows, dtype=np.bool_)
    for column, places in parts:
        values[places] = np.frombuffer(column.buffers()[1], dtype=values.dtype)[column.offset : column.offset + len(column)]
        valid[places] = column.is_valid().to_numpy(zero_copy_only=False) if column.null_count else True
    bits = None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
    return pa.Array.from_buffers(kind, rows, [bits, pa.py_buffer(values)])


def _taken(parts: Sequence[Part], rows: int) -> pa.Array:
    row_at = np.full(rows, -1, dtype=np.int64)
    first = 0
    for column, places in parts:
        row_at[places] = np.arange(first, first + len(column))
        first += len(column)
    joined = pa.concat_arrays([column for column, _ in parts])
    return joined.take(pa.array(row_at, mask=row_at < 0))
