"""A large warehouse for readers: copies of the demo's, each of a broker of its own and on a day of its own. Made without Spark."""

from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import DeltaTable

from pipeline.warehouse.append import append_files, append_rows
from pipeline.warehouse.data_files import NewFile
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import create_missing_tables
from schemas.field import Table
from schemas.tables import LANE_TABLES, TABLES, TABLES_BY_NAME

#: Brokers beside each other; each has a copy a day.
BROKERS = 20
_DAY_US = 86_400 * 10**6
#: Rows of outcomes to rows of bronze. A capture of minutes has fewer: the rest is of days whose events are deleted (maintain.keep_days).
OUTCOMES_SHARE = 10
#: Copies in one commit of an outcome table.
_AT_ONCE = 500
#: As ingest does.
_BOUNDED = TABLES_BY_NAME["dispatch_events"].properties["delta.dataSkippingStatsColumns"].split(",")
_OWN = "127.0.0.1:8080"


def large_warehouse(demo: Path, folder: Path, events: int) -> tuple[Path, dict[str, int]]:
    """The warehouse, and its rows: of bronze `events` or a little more, of outcomes a tenth of that or a little more.

    The newest copy is the demo itself; earlier ones have other brokers, and days before it.
    """
    warehouse = Warehouse(f"file:{folder}")
    create_missing_tables(warehouse)
    bronze = DeltaTable(str(demo / "dispatch_events")).to_pyarrow_table()
    copies = -(-events // bronze.num_rows)
    append_files(str(folder / "dispatch_events"), TABLES_BY_NAME["dispatch_events"], _bronze_files(bronze, folder, copies), ("bench", 1))
    rows_of = [(table, DeltaTable(str(demo / table.name)).to_pyarrow_table()) for table in TABLES if table.name != "dispatch_events"]
    of_a_copy = sum(rows.num_rows for table, rows in rows_of if table in LANE_TABLES)
    outcome_copies = max(copies, -(-events // OUTCOMES_SHARE // of_a_copy))
    for table, rows in rows_of:
        if table not in LANE_TABLES:
            append_rows(warehouse, table, _names_of_all(rows) if table.name == "names" else rows)
            continue
        for first in range(0, outcome_copies, _AT_ONCE):
            several = [_moved(rows, table, number) for number in range(first, min(outcome_copies, first + _AT_ONCE))]
            append_rows(warehouse, table, pa.concat_tables(several))
    return folder, {"dispatch_events": bronze.num_rows * copies, "outcomes": of_a_copy * outcome_copies}


def _bronze_files(bronze: pa.Table, folder: Path, copies: int) -> list[NewFile]:
    """A file a day of all brokers, as `maintain` leaves dates that are closed."""
    table, found = TABLES_BY_NAME["dispatch_events"], []
    for first in range(0, copies, BROKERS):
        rows = pa.concat_tables([_moved(bronze, table, number) for number in range(first, min(copies, first + BROKERS))])
        day = str(rows["event_date"][0].as_py())
        path = Path(f"event_date={day}") / "merged.parquet"
        (folder / "dispatch_events" / path).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(rows.drop_columns(["event_date"]), folder / "dispatch_events" / path, compression="zstd")
        stats = {
            "numRecords": rows.num_rows,
            "minValues": {name: pc.min(rows[name]).as_py() for name in _BOUNDED},
            "maxValues": {name: pc.max(rows[name]).as_py() for name in _BOUNDED},
            "nullCount": {},
        }
        size = (folder / "dispatch_events" / path).stat().st_size
        found.append(NewFile(str(path), size, 0, {"event_date": day}, stats))
    return found


def _moved(rows: pa.Table, table: Table, number: int) -> pa.Table:
    """Rows of another broker, some days earlier; copy 0 is the demo as it is."""
    if number == 0:
        return rows
    days = number // BROKERS
    for field in table.fields:
        if field.name not in rows.schema.names:
            continue
        place, column = rows.schema.get_field_index(field.name), rows[field.name]
        if field.name == "broker":
            changed = pc.if_else(pc.is_null(column), column, pa.scalar(_broker(number), column.type))
        elif field.name == "broker_id":
            changed = pc.add(column, number % BROKERS)
        elif field.type == "timestamp" and days:
            changed = pc.subtract(column, pa.scalar(timedelta(days=days), pa.duration("us")))
        elif field.name == "event_date" and days:
            changed = pc.subtract(column, pa.scalar(timedelta(days=days), pa.duration("s"))).cast(column.type)
        elif field.name == "ts" and days:
            changed = pc.subtract(column, days * _DAY_US)
        elif field.name == "epoch" and days:
            changed = pc.subtract(column, days * _DAY_US // 1000)
        else:
            continue
        rows = rows.set_column(place, rows.schema.field(place), changed.cast(rows.schema.field(place).type))
    return rows


def _broker(number: int) -> str:
    return _OWN if number % BROKERS == 0 else f"10.0.0.{number % BROKERS}:8080"


def _names_of_all(names: pa.Table) -> pa.Table:
    """With a row for every broker."""
    own = names.filter(pc.equal(names["level"], "broker"))
    place = names.schema.get_field_index("broker")
    id_place = names.schema.get_field_index("id")
    others = [
        own.set_column(place, names.schema.field(place), pa.array([_broker(number)], names.schema.field(place).type)).set_column(
            id_place, names.schema.field(id_place), pc.add(own["id"], number)
        )
        for number in range(1, BROKERS)
    ]
    return pa.concat_tables([names, *others])
