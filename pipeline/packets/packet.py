"""A packet: lane rows of one epoch as compressed bytes, in dispatch_events from the task that wrote the events until their lane reads them.

Columns of one kind of number compress well together, so a packet holds column after column; a shuffle moves some dozens of packets
where it would move millions of rows. What its columns mean is in LAYOUT (schemas/lane_columns.py), which stands beside it in the table:
bytes of another layout are never opened.
"""

import struct
import zlib

import numpy as np
import pyarrow as pa

from pipeline.faults import BadWarehouse
from pipeline.machines.array import Array
from pipeline.machines.passes import rows_of_columns
from schemas.lane_columns import COLUMN, LANE_COLUMNS

#: Number of rows, the highest byte first (SQL reads it); epoch and `seq` of the first; CRC-32 of the compressed bytes that follow.
_HEAD = struct.Struct(">qqqI")
#: 12 bytes an event in bronze; lz4 takes half the time and leaves 24.
_CODEC = "zstd"
#: Counters and clocks travel as steps.
_STEPPED = tuple(COLUMN[name] for name in ("seq", "ts", "ns"))
_EPOCH, _SEQ = COLUMN["epoch"], COLUMN["seq"]


def packed_rows(lane: Array) -> bytes:
    """The packet of int64 [LANE_COLUMNS, n], n > 0, all of one epoch."""
    columns = np.array(lane, order="C")
    for position in _STEPPED:
        columns[position, 1:] -= lane[position, :-1]
    packed = pa.compress(pa.py_buffer(columns), codec=_CODEC, asbytes=True)
    return _HEAD.pack(lane.shape[1], lane[_EPOCH, 0], lane[_SEQ, 0], zlib.crc32(packed)) + packed


def first_of(packet: bytes) -> tuple[int, int]:
    """Epoch and `seq` of the first row: packets in this order are events in order, if their files were."""
    _, epoch, seq, _ = _HEAD.unpack_from(packet)
    return epoch, seq


def unpacked_rows(packet: bytes) -> Array:
    """int64 [n, LANE_COLUMNS] of what `packed_rows` was given. Raises BadWarehouse for other bytes."""
    count, epoch, seq, checksum = _HEAD.unpack_from(packet)
    packed = memoryview(packet)[_HEAD.size :]
    if zlib.crc32(packed) != checksum:
        raise BadWarehouse(
            f"dispatch_events: the packet of {count} events from epoch {epoch}, seq {seq} has another checksum than its bytes. Put the "
            "right files of the table back, or compute anew from the log: ./spark-submit.sh rebuild all --warehouse WAREHOUSE"
        )
    shape = (len(LANE_COLUMNS), count)
    plain = pa.decompress(packed, decompressed_size=8 * shape[0] * count, codec=_CODEC, asbytes=True)
    columns = np.frombuffer(plain, dtype=np.int64).reshape(shape)
    return rows_of_columns(columns, np.array(_STEPPED))
