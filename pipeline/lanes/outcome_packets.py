"""Outcomes of a lane as packets: rows of one table with the table's own columns, as one value.

As a row of Spark each would be as wide as the widest, and cost 55 µs on its way to the driver. A packet lives within one micro-batch:
nothing keeps it, so it has no version. Arrow's own format would take 0.2 ms for each of the twenty small packets of a lane.
"""

import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from pipeline.lanes.outcomes import encoded
from pipeline.rules.array import Array
from pipeline.rules.outcome import Rows
from schemas.outcomes import KINDS, LANE_REPORT, OUTCOME_COLUMNS, PAYLOAD
from schemas.tables import TABLES_BY_NAME

#: So many bytes of a lane come with the counts, the smallest packets first: a second job for them takes a tenth of a second. The driver
#: must hold them of all lanes of a micro-batch.
WITH_COUNTS_BYTES = 524_288
#: Rows of one table in a packet at most: readers hold a few unpacked ones.
MOST_ROWS = 100_000
#: Below so many rows compression saves less than its call costs.
_COMPRESSED_FROM = 1_000
_CODEC = "lz4"
#: Broker's id, rows, bytes of their numbers; then the numbers column by column, the bytes of each payload, and the payloads.
_HEAD = struct.Struct("<qqq")
_WITH_PAYLOAD = {table for table in OUTCOME_COLUMNS if table != LANE_REPORT and PAYLOAD in TABLES_BY_NAME[table].names}


def outcome_schema(table: str) -> pa.Schema:
    """Columns of a table's outcomes (or the report's): the broker's id, OUTCOME_COLUMNS, and its payload if it has one."""
    numbers = [pa.field(name, pa.int64()) for name in ("broker_id", *OUTCOME_COLUMNS[table])]
    return pa.schema([*numbers, pa.field(PAYLOAD, pa.binary())] if _has_payload(table) else numbers)


class OutcomePacket(NamedTuple):
    """`rows` of the table of `kind` (KINDS), with `payload_bytes` of states among them, as bytes."""

    kind: int
    broker_id: int
    rows: int
    payload_bytes: int
    outcome: bytes


def outcome_packets(broker_id: int, outcomes: Iterable[Rows]) -> list[OutcomePacket]:
    """Packets of a lane's outcomes; the rows of a table keep their order."""
    by_table: dict[str, list[Rows]] = {}
    for rows in outcomes:
        by_table.setdefault(rows.table, []).append(rows)
    return [packet for table, parts in by_table.items() for packet in _packets(broker_id, table, parts)]


def with_counts(packets: Sequence[bytes]) -> Array:
    """1 for each packet that comes with the counts."""
    sizes = np.array(list(map(len, packets)), dtype=np.int64)
    order = np.argsort(sizes, kind="stable")
    found = np.zeros(len(sizes), dtype=np.int64)
    found[order] = np.cumsum(sizes[order]) <= WITH_COUNTS_BYTES
    return found


def outcome_rows(broker_id: int, table: str, parts: Sequence[Rows]) -> pa.Table:
    """A lane's outcomes of one table (or the report), in their order, not as packets."""
    numbers = encoded(table, parts)
    return _typed(table, np.concatenate((np.full((1, numbers.shape[1]), broker_id, dtype=np.int64), numbers)), _payloads_of(table, parts))


def _payloads_of(table: str, parts: Sequence[Rows]) -> list[bytes]:
    return [part.payload for part in parts for _ in range(part.count)] if _has_payload(table) else []


def _packets(broker_id: int, table: str, parts: list[Rows]) -> Iterator[OutcomePacket]:
    numbers, payloads = encoded(table, parts), _payloads_of(table, parts)
    for start in range(0, numbers.shape[1], MOST_ROWS):
        piece, states = numbers[:, start : start + MOST_ROWS], payloads[start : start + MOST_ROWS]
        packed = _packed(broker_id, piece, states)
        yield OutcomePacket(KINDS[table], broker_id, piece.shape[1], sum(map(len, states)), packed)


def _packed(broker_id: int, numbers: Array, payloads: list[bytes]) -> bytes:
    count, plain = numbers.shape[1], numbers.tobytes()
    bytes_of_numbers = plain if count < _COMPRESSED_FROM else pa.compress(plain, codec=_CODEC, asbytes=True)
    lengths = np.array(list(map(len, payloads)), dtype=np.int64).tobytes()
    return b"".join((_HEAD.pack(broker_id, count, len(bytes_of_numbers)), bytes_of_numbers, lengths, *payloads))


def opened_outcomes(table: str, packets: Iterable[bytes]) -> pa.Table:
    """The rows of packets of one table (or of the report); there must be one at least."""
    opened = [_opened(table, packet) for packet in packets]
    numbers = np.concatenate([numbers for numbers, _ in opened], axis=1)
    return _typed(table, numbers, [payload for _, payloads in opened for payload in payloads])


def _typed(table: str, numbers: Array, payloads: list[bytes]) -> pa.Table:
    columns = [pa.array(column) for column in numbers]
    if _has_payload(table):
        columns.append(pa.array(payloads, pa.binary()))
    return pa.Table.from_arrays(columns, schema=outcome_schema(table))


def _opened(table: str, packet: bytes) -> tuple[Array, list[bytes]]:
    """The broker's id and the numbers, int64 [1 + OUTCOME_COLUMNS, rows], and the payloads."""
    broker_id, count, size = _HEAD.unpack_from(packet)
    width = len(OUTCOME_COLUMNS[table])
    end = _HEAD.size + size
    packed = memoryview(packet)[_HEAD.size : end]
    plain = packed if count < _COMPRESSED_FROM else pa.decompress(packed, decompressed_size=8 * width * count, codec=_CODEC, asbytes=True)
    numbers = np.empty((1 + width, count), dtype=np.int64)
    numbers[0] = broker_id
    numbers[1:] = np.frombuffer(plain, dtype=np.int64).reshape(width, count)
    return numbers, _payloads(packet, end, count) if _has_payload(table) else []


def _payloads(packet: bytes, begin: int, count: int) -> list[bytes]:
    stops = begin + 8 * count + np.cumsum(np.frombuffer(packet, dtype=np.int64, offset=begin, count=count))
    starts = [begin + 8 * count, *stops[:-1].tolist()]
    return [packet[start:stop] for start, stop in zip(starts, stops.tolist(), strict=True)]


def _has_payload(table: str) -> bool:
    return table in _WITH_PAYLOAD
