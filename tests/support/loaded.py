"""A log that is loaded, and what it is compared with."""

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from driver.loading import load_log
from pipeline.settings import load_settings
from pipeline.store.arrow_reader import arrow_rows
from pipeline.warehouse.layout import Warehouse
from schemas.tables import JOB_TABLES

#: When and by whom a row was written, and how events are cut into packets: another run has other ones.
_OF_THE_RUN = ("quarantined_at", "issued_at", "lane_packet")
_PROCESSES = 2


def load_into(events: str | Path, folder: Path, **settings: str) -> Warehouse:
    """`load` of `events` into `folder`, with `lanes__window_ms="…"` for `--set lanes.window_ms=…`."""
    overrides = [f"{key.replace('__', '.')}={value}" for key, value in settings.items()]
    load_log(str(events), f"file:{folder}", load_settings(None, overrides, {}), _PROCESSES, lambda line: None)
    return Warehouse(f"file:{folder}")


def tables_unlike(one: Warehouse, other: Warehouse) -> list[str]:
    """Tables of the job whose rows are not the same, whatever their order; of batch_manifest the sums of its counts, and the
    newest events.
    """
    return [table.name for table in JOB_TABLES if not contents(one, table.name).equals(contents(other, table.name))]


def contents(warehouse: Warehouse, name: str) -> pa.Table:
    """Rows of a table in an order of their own."""
    rows = arrow_rows(warehouse.table(name))
    if name == "batch_manifest":
        counts = [column for column in rows.column_names if rows.schema.field(column).type == pa.int64() and column != "batch_id"]
        sums: Mapping[str, str] = {f"{column}_sum": column for column in counts if column != "state_bytes"}
        summed = rows.group_by("query").aggregate([(column, "sum") for column in sums.values()]).sort_by("query")
        newest = {row["query"]: row["newest_events"] for row in rows.sort_by("batch_id").to_pylist()}
        return summed.append_column("newest_events", [[newest[query] for query in summed["query"].to_pylist()]])
    kept = rows.drop_columns([column for column in _OF_THE_RUN if column in rows.column_names])
    sortable = [(field.name, "ascending") for field in kept.schema if not pa.types.is_nested(field.type)]
    return kept.sort_by(sortable).combine_chunks()
