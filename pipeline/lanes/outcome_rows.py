"""Packets of outcomes to rows of their tables, in tasks of Spark: where they are more than the driver takes."""

from collections.abc import Iterator

import pyarrow as pa

from pipeline.faults import invariant
from pipeline.lanes.named_outcomes import NamedOutcomes, ids_in
from pipeline.lanes.outcome_packets import MOST_ROWS, opened_outcomes
from pipeline.store.arrow_reader import arrow_rows
from schemas.field import Table
from schemas.outcomes import KINDS

Batches = Iterator[pa.RecordBatch]
_TABLES = {kind: name for name, kind in KINDS.items()}
#: What `unnamed_packets` gives.
UNNAMED = "packets bigint"


def table_rows(table: Table, names: str, batches: Batches) -> Batches:
    """Rows of the table, of packets of it (columns `rows`, `outcome`); `names` is the URI of that table. For `mapInArrow`."""
    for packets in _together(batches):
        named = _named({table.name: [outcome for _, outcome in packets]}, names)
        invariant(not named.lacks_text(), f"names of ids in {table.name} are missing in {names}")
        yield from named.slices_of(table)


def unnamed_packets(names: str, batches: Batches) -> Batches:
    """How many packets (columns `kind`, `rows`, `outcome`) have an id without a name, a row of UNNAMED for some. For `mapInArrow`."""
    for packets in _together(batches):
        by_table: dict[str, list[bytes]] = {}
        for kind, outcome in packets:
            by_table.setdefault(_TABLES[kind], []).append(outcome)
        lacking = len(packets) if _named(by_table, names).lacks_text() else 0
        yield pa.RecordBatch.from_arrays([pa.array([lacking], pa.int64())], names=["packets"])


def _named(packets: dict[str, list[bytes]], names: str) -> NamedOutcomes:
    outcomes = {name: opened_outcomes(name, of_table) for name, of_table in packets.items()}
    return NamedOutcomes(outcomes, arrow_rows(names, among={"id": ids_in(outcomes.values())}))


def _together(batches: Batches) -> Iterator[list[tuple[int, bytes]]]:
    """(kind, packet) of as many packets as have MOST_ROWS rows: each look at `names` takes some milliseconds."""
    packets: list[tuple[int, bytes]] = []
    rows = 0
    for batch in batches:
        for kind, count, outcome in zip(*(batch[name].to_pylist() for name in ("kind", "rows", "outcome")), strict=True):
            if packets and rows + count > MOST_ROWS:
                yield packets
                packets, rows = [], 0
            packets.append((kind, outcome))
            rows += count
    if packets:
        yield packets
