"""A packet: lane rows of one epoch as compressed bytes, on their way from the task that read them to their lane.

Columns of one kind of number compress well together, so a packet holds column after column; a shuffle moves some dozens of packets
where it would move millions of rows. It lives within one micro-batch: nothing keeps it, so it has no version.
"""

import struct

import numpy as np
import pyarrow as pa

from pipeline.machines.array import Array
from schemas.lane_columns import COLUMN, LANE_COLUMNS

#: Name of the column in which packets travel.
PACKET = "packet"
_COUNT = struct.Struct("<q")
#: 22 bytes an event at half of the time that zstd takes for 11: a packet travels once, mostly within one machine.
_CODEC = "lz4_raw"
#: Counters and clocks travel as steps.
_STEPPED = tuple(COLUMN[name] for name in ("seq", "ts", "ns"))


def packed_rows(lane: Array) -> bytes:
    """The packet of int64 [LANE_COLUMNS, n]."""
    columns = np.array(lane, order="C")
    for position in _STEPPED:
        columns[position, 1:] -= lane[position, :-1]
    return _COUNT.pack(lane.shape[1]) + pa.compress(pa.py_buffer(columns), codec=_CODEC, asbytes=True)


def unpacked_rows(packet: bytes) -> Array:
    """int64 [n, LANE_COLUMNS] of what `packed_rows` was given."""
    (count,) = _COUNT.unpack_from(packet)
    shape = (len(LANE_COLUMNS), count)
    plain = pa.decompress(memoryview(packet)[_COUNT.size :], decompressed_size=8 * shape[0] * count, codec=_CODEC, asbytes=True)
    columns = np.frombuffer(plain, dtype=np.int64).reshape(shape)
    rows = np.empty((count, len(LANE_COLUMNS)), dtype=np.int64)
    rows[:] = columns.T
    for position in _STEPPED:
        np.cumsum(rows[:, position], out=rows[:, position])
    return rows
