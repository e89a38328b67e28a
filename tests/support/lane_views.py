"""Views of the catalog over what the production lane makes of small logs, without a warehouse: tables are frames in memory."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from lane_rows import text_id
from lane_tables import OUTCOME_TABLES, SETTINGS, tables_of
from pyspark.sql import SparkSession

from pipeline.lanes.lane import LaneTiming
from pipeline.query.views.catalog import VIEWS, sql_of
from schemas.render.spark import struct
from schemas.tables import TABLES_BY_NAME

START = datetime(1970, 1, 1, tzinfo=UTC)
#: What a column that must not be null holds where a row does not have it.
NOTHING = {"string": "", "long": 0, "int": 0, "boolean": False, "double": 1.0, "timestamp": START, "date": date(1970, 1, 1)}
Event = Mapping[str, Any]


def spark_rows(table: str, rows: Iterable[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    """Rows of the pure lane, or of a test, by the declared columns: µs as times, days as dates, absent ones null or NOTHING."""
    return [tuple(_value(row.get(f.name), f.type, f.nullable) for f in TABLES_BY_NAME[table].fields) for row in rows]


def _value(value: Any, type_: str, nullable: bool) -> Any:
    if value is None:
        return None if nullable else NOTHING[type_]
    if type_ == "date":
        return START.date() + timedelta(days=value)
    return START + timedelta(microseconds=value) if type_ == "timestamp" else value


def names_of(events: Iterable[Event]) -> list[dict[str, Any]]:
    """Rows of `names` for what the events name."""
    named = {(event["broker"], event.get("topic"), event.get("sub")) for event in events}
    brokers = [{"id": text_id("b", broker), "level": "broker", "broker": broker} for broker in sorted({name[0] for name in named})]
    topics = [{"id": text_id("t", topic), "level": "topic", "topic": topic} for topic in sorted({name[1] for name in named if name[1]})]
    return [*brokers, *topics]


def session_over(
    spark: SparkSession, logs: Sequence[Sequence[Event]], tables: Sequence[str], views: Sequence[str], settings: LaneTiming = SETTINGS
) -> SparkSession:
    """A session of its own in which `tables` hold what comes of `logs` (one of an epoch of a broker each), and `views` over them."""
    rows: dict[str, list[Mapping[str, Any]]] = {name: [] for name in (*OUTCOME_TABLES, "dispatch_events", "names")}
    for log in logs:
        rows["dispatch_events"] += log
        for name, found in tables_of([dict(event) for event in log], settings=settings).items():
            rows[name] += found
    rows["names"] += names_of(rows["dispatch_events"])
    session = spark.newSession()
    for name in tables:
        frame = session.createDataFrame(spark_rows(name, rows[name]), struct(TABLES_BY_NAME[name].fields), verifySchema=False)
        frame.coalesce(1).createOrReplaceTempView(name)
    for view in sorted(views, key=VIEWS.index):
        session.sql(f"CREATE OR REPLACE TEMP VIEW {view} AS\n{sql_of(view)}")
    return session
