"""Outcomes of a lane as packets: rows of one table with the table's own columns, as one value in Arrow's stream format.

As a row of Spark each would be as wide as the widest, and cost 55 µs on its way to the driver.
"""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.lanes.outcomes import encode_rows
from pipeline.machines.outcome import Rows
from schemas.outcomes import KINDS, LANE_REPORT, OUTCOME_COLUMNS, OUTCOME_WIDTH, PAYLOAD
from schemas.tables import TABLES_BY_NAME

#: What the lanes' operator gives: `rows` of one table, with `payload_bytes` of states among them, in `outcome`.
PACKET_COLUMNS = ("kind", "broker_id", "rows", "payload_bytes", "outcome")
#: Rows of one table in a packet at most: readers hold a few unpacked ones.
MOST_ROWS = 100_000
#: Numbers of a row of the operator's output when it is as wide as the widest table: `oK` is the K-th of OUTCOME_COLUMNS.
WIDE_COLUMNS = ("kind", "broker_id", *(f"o{k}" for k in range(OUTCOME_WIDTH)))
#: Compression begins anew for each column: below so many rows that costs more than the bytes.
_COMPRESSED_FROM = 1_000
_PLAIN, _COMPRESSED = pa.ipc.IpcWriteOptions(), pa.ipc.IpcWriteOptions(compression="lz4")
_TABLES = {kind: name for name, kind in KINDS.items()}


def outcome_schema(table: str) -> pa.Schema:
    """Columns of a table's outcomes (or the report's): the broker's id, OUTCOME_COLUMNS, and its payload if it has one."""
    numbers = [pa.field(name, pa.int64()) for name in ("broker_id", *OUTCOME_COLUMNS[table])]
    return pa.schema([*numbers, pa.field(PAYLOAD, pa.binary())] if _has_payload(table) else numbers)


def packed_outcomes(broker_id: int, outcomes: Iterable[Rows]) -> Iterator[pd.DataFrame]:
    """PACKET_COLUMNS of a lane's outcomes, in one frame; the rows of a table keep their order."""
    by_table: dict[str, list[Rows]] = {}
    for rows in outcomes:
        by_table.setdefault(rows.table, []).append(rows)
    packets = [packet for table, parts in by_table.items() for packet in _packets(broker_id, table, parts)]
    yield pd.DataFrame(packets, columns=list(PACKET_COLUMNS))


def _packets(broker_id: int, table: str, parts: list[Rows]) -> Iterator[tuple[int, int, int, int, bytes]]:
    numbers = np.concatenate([encode_rows(rows) for rows in parts])
    columns = [
        pa.array(np.full(len(numbers), broker_id)),
        *(pa.array(np.ascontiguousarray(numbers[:, k])) for k in range(numbers.shape[1])),
    ]
    if _has_payload(table):
        columns.append(pa.array([rows.payload for rows in parts for _ in range(rows.count)], pa.binary()))
    whole = pa.RecordBatch.from_arrays(columns, schema=outcome_schema(table))
    for start in range(0, len(numbers), MOST_ROWS):
        piece = whole.slice(start, MOST_ROWS)
        payload_bytes = sum(map(len, piece[PAYLOAD].to_pylist())) if _has_payload(table) else 0
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, piece.schema, options=_PLAIN if piece.num_rows < _COMPRESSED_FROM else _COMPRESSED) as stream:
            stream.write_batch(piece)
        yield KINDS[table], broker_id, piece.num_rows, payload_bytes, sink.getvalue().to_pybytes()


def opened_outcomes(packets: Iterable[bytes]) -> pa.Table:
    """The rows of packets of one table; there must be one at least."""
    return pa.concat_tables([pa.ipc.open_stream(packet).read_all() for packet in packets])


def wide_rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows of packets (PACKET_COLUMNS), each as wide as the widest: WIDE_COLUMNS and the payload. For `mapInArrow`."""
    for batch in batches:
        for kind, packet in zip(batch["kind"].to_pylist(), batch["outcome"].to_pylist(), strict=True):
            for rows in pa.ipc.open_stream(packet):
                yield _widened(kind, rows)


def narrow_rows(wide: pa.Table, table: str) -> pa.Table:
    """Of rows that are as wide as the widest those of one table, with its own columns (`outcome_schema`)."""
    own = wide.filter(pc.equal(wide["kind"], KINDS[table]))
    columns = [own["broker_id"], *(own[f"o{position}"] for position in range(len(OUTCOME_COLUMNS[table])))]
    return pa.table([*columns, own[PAYLOAD]] if _has_payload(table) else columns, schema=outcome_schema(table))


def _widened(kind: int, rows: pa.RecordBatch) -> pa.RecordBatch:
    names = OUTCOME_COLUMNS[_TABLES[kind]]
    zeros = pa.array(np.zeros(rows.num_rows, dtype=np.int64))
    columns: Mapping[str, pa.Array] = {
        "kind": pa.array(np.full(rows.num_rows, kind)),
        "broker_id": rows["broker_id"],
        **{f"o{position}": rows[name] for position, name in enumerate(names)},
    }
    payload = rows[PAYLOAD] if PAYLOAD in rows.schema.names else pa.array([b""] * rows.num_rows, pa.binary())
    return pa.RecordBatch.from_arrays([*(columns.get(name, zeros) for name in WIDE_COLUMNS), payload], names=[*WIDE_COLUMNS, PAYLOAD])


def _has_payload(table: str) -> bool:
    return table != LANE_REPORT and PAYLOAD in TABLES_BY_NAME[table].names
