"""The newest applied event of each broker, carried from one micro-batch into the next: the newest row of batch_manifest has all of them.

Whoever asks then reads one row, however long the job runs and however long a broker is silent.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.store.arrow_reader import arrow_rows, grouped
from pipeline.warehouse.layout import LANES, Warehouse
from schemas.outcomes import LANE_REPORT_REACHED, NULL


class Reached(NamedTuple):
    """An epoch, and the `ts` (µs) up to which its events are applied."""

    epoch: int
    ts: int


class NewestEvents:
    """By broker id. `add` what lanes report, in the order of the micro-batches; a repeated report changes nothing."""

    def __init__(self, known: Mapping[int, Reached] | None = None) -> None:
        self._by_broker = dict(known or {})

    def add(self, reports: pa.Table) -> None:
        """Take the reports of a micro-batch (columns of LANE_REPORT). An epoch older than the known one changes nothing."""
        columns = (reports[name].to_pylist() for name in ("broker_id", *LANE_REPORT_REACHED))
        for broker_id, epoch, ts in zip(*columns, strict=True):
            known = self._by_broker.get(broker_id)
            if epoch != NULL and (known is None or epoch >= known.epoch):
                self._by_broker[broker_id] = Reached(epoch, ts)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The value of batch_manifest.newest_events, in order of the brokers' ids."""
        return [{"broker_id": broker_id, "epoch": one.epoch, "at": one.ts} for broker_id, one in sorted(self._by_broker.items())]


def newest_events(warehouse: Warehouse) -> NewestEvents:
    """As the newest micro-batch of lanes left them. The table batch_manifest must exist."""
    manifest = warehouse.table("batch_manifest")
    newest = grouped(manifest, "query", "batch_id", "max").get(LANES)
    if newest is None:
        return NewestEvents()
    rows = arrow_rows(manifest, ["newest_events"], {"query": [LANES], "batch_id": [newest]})
    return NewestEvents(dict(_of_rows(rows["newest_events"].combine_chunks())))


def _of_rows(values: pa.Array) -> Iterable[tuple[int, Reached]]:
    events = values.flatten()
    # As numbers: Python has no time after the year 9999.
    columns = (events.field("broker_id"), events.field("epoch"), pc.cast(events.field("at"), pa.int64()))
    for broker_id, epoch, ts in zip(*(column.to_pylist() for column in columns), strict=True):
        yield broker_id, Reached(epoch, ts)
