"""Probes in this process: DuckDB reads the epoch's events in order, the lane folds them. No Spark."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from pipeline.diagnosis.probe.brokers import LivingBroker
from pipeline.faults import BadWarehouse
from pipeline.lanes.lane import LaneTiming
from pipeline.lanes.named_outcomes import NamedOutcomes
from pipeline.lanes.outcomes import encoded
from pipeline.lanes.packets.bronze_columns import columns_read, lane_columns_of
from pipeline.lanes.probe import Probe
from pipeline.query.room import ReadingRoom
from pipeline.rules.outcome import Rows
from schemas.events import TOMBSTONE_CODE
from schemas.outcomes import OUTCOME_COLUMNS
from schemas.render.arrow import arrow_schema
from schemas.tables import TABLES_BY_NAME
from schemas.tables.bookkeeping import NAMES

TABLES = ("topic_backlog", "subscription_backlog")
#: A rejected line's place, as a row of bronze that has nothing else.
_OF_TOMBSTONE = {
    "broker_id": "broker_id", "epoch": "epoch", "seq": "seq", "ts": "ts", "ns": "ns", "ingest_batch": "ingest_batch",
    "type_code": str(TOMBSTONE_CODE), "topic_id": "0", "sub_id": "0",
}  # fmt: skip


def rows_of(
    room: ReadingRoom, brokers: Sequence[LivingBroker], at_us: int, settings: LaneTiming
) -> Mapping[str, Iterable[Mapping[str, Any]]]:
    """Rows of TABLES of the brokers' epochs at `at_us`. Raises BadWarehouse if the names of what was read are still to come."""
    parts: dict[str, list[tuple[int, Rows]]] = {name: [] for name in TABLES}
    for one in brokers:
        probe = Probe(one.epoch, settings)
        for batch in room.batches(_events_of(one)):
            probe.offer(lane_columns_of(batch).T)
        for rows in probe.at(at_us):
            parts[rows.table].append((one.broker_id, rows))
    # A new room: ingest writes events before their names, so the names of what was read are there by now.
    names = ReadingRoom(room.warehouse).rows("SELECT * FROM names")
    outcomes = NamedOutcomes({name: _outcomes(name, found) for name, found in parts.items()}, pa.Table.from_pylist(names, _NAMES))
    if outcomes.lacks_text():
        folder = room.warehouse.table(NAMES.name)
        raise BadWarehouse(f"ingest is amid a micro-batch: names of new topics are not in {folder} yet; ask again")
    return {name: outcomes.rows_of(TABLES_BY_NAME[name]).to_pylist() for name in TABLES}


_NAMES = arrow_schema(NAMES.fields)


def _events_of(one: LivingBroker) -> str:
    """An epoch's events and places of rejected lines in order; an epoch is cut at a `seq`, not at a time: a gap would look like a loss."""
    columns = columns_read()
    stretch = f"broker_id = {one.broker_id} AND epoch = {one.epoch} AND seq <= {one.last_seq}"
    places = ", ".join(f"{_OF_TOMBSTONE.get(name, 'null')} AS `{name}`" for name in columns)
    return (
        f"SELECT * FROM (SELECT {', '.join(f'`{name}`' for name in columns)} FROM dispatch_events WHERE {stretch}"
        f" UNION ALL SELECT {places} FROM lane_control WHERE kind = 'tombstone' AND {stretch})"
        # As in a lane: an event before a tombstone, the earlier ingest batch before the later.
        f" ORDER BY seq, type_code = {TOMBSTONE_CODE}, ingest_batch"
    )


def _outcomes(table: str, parts: Sequence[tuple[int, Rows]]) -> pa.Table:
    """The numbers of a table's rows, as NamedOutcomes takes them."""
    columns = ("broker_id", *OUTCOME_COLUMNS[table])
    schema = pa.schema([(name, pa.int64()) for name in columns])
    pieces = [
        pa.Table.from_arrays([pa.array([broker_id] * rows.count, pa.int64()), *map(pa.array, encoded(table, [rows]))], schema=schema)
        for broker_id, rows in parts
    ]
    return pa.concat_tables([schema.empty_table(), *pieces]).combine_chunks()
