"""A packet: lane rows of one epoch as compressed bytes, in dispatch_events from the task that wrote the events until their lane reads them.

Columns of one kind of number compress well together, so a packet holds column after column; a shuffle moves some dozens of packets
where it would move millions of rows. What its columns mean is in LAYOUT (schemas/lane_columns.py), which stands beside it in the table:
bytes of another layout are never opened.
"""

import struct
import zlib
from collections.abc import Iterable, Iterator
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from pipeline.faults import BadWarehouse
from pipeline.rules.array import Array
from pipeline.rules.row_scans import rows_of_columns
from schemas.lane_columns import COLUMN, LANE_COLUMNS

#: Number of rows, the highest byte first (SQL reads it); epoch; least `seq`, greatest `seq`; `arrival` of the first row; CRC-32 of the
#: compressed bytes that follow.
_HEAD = struct.Struct(">qqqqqI")
#: 12 bytes an event in bronze; lz4 takes half the time and leaves 24.
_CODEC = "zstd"
#: Counters and clocks travel as steps.
_STEPPED = tuple(COLUMN[name] for name in ("seq", "ts", "ns", "arrival"))
#: So much of a packet tells its places.
HEAD_BYTES = _HEAD.size
_EPOCH, _SEQ, _ARRIVAL = COLUMN["epoch"], COLUMN["seq"], COLUMN["arrival"]


_Packet = TypeVar("_Packet")


class _Head(NamedTuple):
    rows: int
    epoch: int
    first_seq: int
    last_seq: int
    arrival: int
    checksum: int


def packed_rows(lane: Array) -> bytes:
    """The packet of int64 [LANE_COLUMNS, n], n > 0, all of one epoch."""
    columns = np.array(lane, order="C")
    for position in _STEPPED:
        columns[position, 1:] -= lane[position, :-1]
    packed = pa.compress(pa.py_buffer(columns), codec=_CODEC, asbytes=True)
    places = (lane[_EPOCH, 0], lane[_SEQ].min(), lane[_SEQ].max(), lane[_ARRIVAL, 0])
    return _HEAD.pack(lane.shape[1], *places, zlib.crc32(packed)) + packed


class Turn(NamedTuple, Generic[_Packet]):
    """A packet in its turn. `begin`: its first place, (epoch, seq); `is_beyond`: beyond all places of the packets before it.

    `is_alone`: no other packet has one of its places. Of two packets with one place a lane must see both before it takes a row of either.
    """

    packet: _Packet
    begin: tuple[int, int]
    is_beyond: bool
    is_alone: bool


def in_order(packets: Iterable[tuple[bytes, _Packet]]) -> Iterator[Turn[_Packet]]:
    """Packets by their places: events in order, if their files were. Each comes with its first HEAD_BYTES at least."""
    found = sorted(((_Head(*_HEAD.unpack_from(head)), packet) for head, packet in packets), key=lambda one: one[0][1:5])
    begins = [(head.epoch, head.first_seq) for head, _ in found]
    reached = (-1, -1)
    for (head, packet), begin, after in zip(found, begins, [*begins, None][1:], strict=True):
        is_beyond = begin > reached
        reached = max(reached, (head.epoch, head.last_seq))
        yield Turn(packet, begin, is_beyond, is_beyond and (after is None or after > reached))


def packets_in_order(packets: Iterable[bytes]) -> Iterator[tuple[Array, bool]]:
    """Rows of each packet in its turn, and whether it is alone."""
    return ((unpacked_rows(turn.packet), turn.is_alone) for turn in in_order((packet, packet) for packet in packets))


def unpacked_rows(packet: bytes) -> Array:
    """int64 [n, LANE_COLUMNS] of what `packed_rows` was given. Raises BadWarehouse for other bytes."""
    count, epoch, seq, _, _, checksum = _HEAD.unpack_from(packet)
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
