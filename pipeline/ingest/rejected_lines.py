"""Rejected lines as rows of quarantine, and their places in the log as tombstones for lanes."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.store.arrow_places import opened_anywhere
from pipeline.warehouse.data_files import NewFile
from schemas.ids import BROKER, id_of
from schemas.render.arrow import arrow_schema
from schemas.tables.bookkeeping import LANE_CONTROL
from schemas.tables.bronze import QUARANTINE

#: Columns of quarantine by which lanes know the place of a rejected line; null where its envelope could not be read.
PLACED = ("broker", "epoch", "seq", "ts", "ns")
_SCHEMA = arrow_schema(QUARANTINE.fields)
_Rows = TypeVar("_Rows", pa.RecordBatch, pa.Table)


class Tombstone(NamedTuple):
    """The place of rejected lines in the log of a lane (a broker's id). Of several lines for one place the one with the least clocks."""

    lane: int
    epoch: int
    seq: int
    ts: int
    ns: int


def quarantine_rows(rejects: _Rows, ingest_batch: int, now: datetime) -> _Rows:
    """Rows of quarantine of rejected lines (REJECT_SCHEMA, and any other columns)."""
    beside = {"ingest_batch": ingest_batch, "quarantined_at": now}
    columns = {name: pa.repeat(pa.scalar(value, _SCHEMA.field(name).type), rejects.num_rows) for name, value in beside.items()}
    return type(rejects).from_arrays([columns[name] if name in columns else rejects[name] for name in _SCHEMA.names], schema=_SCHEMA)


def rejected_in(folder: str, files: Sequence[NewFile]) -> pa.Table:
    """PLACED of the lines in files of quarantine, below the folder of that table."""
    schema = pa.schema([_SCHEMA.field(name) for name in PLACED])
    found = [schema.empty_table()]
    for file in files:
        with opened_anywhere(f"{folder}/{file.path}") as opened:
            found.append(pq.read_table(opened, columns=list(PLACED)).cast(schema))
    return pa.concat_tables(found)


def tombstones(rejects: pa.Table) -> list[Tombstone]:
    """One for each place of rejected lines (PLACED, and any other columns) whose envelope could be read, sorted."""
    clocks: dict[tuple[str, int, int], tuple[int, int]] = {}
    for broker, epoch, seq, ts, ns in _placed(rejects):
        clocks[broker, epoch, seq] = min(clocks.get((broker, epoch, seq), (ts, ns)), (ts, ns))
    return sorted(Tombstone(id_of(BROKER, broker), epoch, seq, *clock) for (broker, epoch, seq), clock in clocks.items())


def control_rows(places: list[Tombstone], ingest_batch: int, now: datetime) -> pa.Table:
    """Rows of lane_control."""
    schema = arrow_schema(LANE_CONTROL.fields)
    rows = [(lane, "tombstone", *place, ingest_batch, now) for lane, *place in places]
    return pa.Table.from_pylist([dict(zip(schema.names, row, strict=True)) for row in rows], schema)


def brokers_of(rejects: pa.Table) -> list[str]:
    """Brokers of rejected lines: a broker may have no other lines, and its lane shows them as quarantined."""
    return sorted({broker for broker, *_ in _placed(rejects)})


def _placed(rejects: pa.Table) -> Iterator[tuple[str, int, int, int, int]]:
    placed = rejects.select(list(PLACED)).drop_null()
    return zip(*(placed[name].to_pylist() for name in PLACED), strict=True)
