"""Rows of the declared tables as Spark and Arrow take them, of what the pure lane makes of a log."""

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from lane_rows import text_id

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
