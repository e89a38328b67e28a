"""A statement of ours is translated once, whatever its names and numbers: the translation is that of the statement itself."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from query.conftest import append, event
from sqlglot import exp

from pipeline.query import translated as module
from pipeline.query.dialect import for_duckdb, parsed
from pipeline.query.room import ReadingRoom
from pipeline.query.translated import translated
from pipeline.query.views.catalog import sql_of
from pipeline.query.views.why_at import why_at
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.literals import instant
from schemas.render.ddl import quoted

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
#: Names that a stranger may give, also such as would end a text, or look like one of our marks.
NAMES = (
    "billing",
    "it's",
    "a\\b",
    "\\' OR 1=1 --",
    "§0§",
    "'§1§'",
    "9100000000000000001",
    "",
    "--",
    "ü\n",
    "\\9100000000000000999",
    "\\'§99§'",
)


def itself(sql: str) -> str:
    """The translation of the statement alone."""
    (statement,) = parsed(sql)
    return for_duckdb(statement)


def asked(name: str, at: datetime = NOON, epoch: int = 1_795_261_607_050) -> str:
    return (
        f"SELECT * FROM subscription_causes WHERE broker = {quoted(name)} AND epoch = {epoch}"
        f" AND window_start < {instant(at)} AND topic IN ({quoted(name)}, 'x')"
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_translation_is_that_of_the_statement(name: str) -> None:
    for at in (NOON, NOON + timedelta(microseconds=1)):
        for epoch in (1_795_261_607_050, 9_100_000_000_000_000_000):
            assert translated(asked(name, at, epoch)).text == itself(asked(name, at, epoch))


def test_the_view_why_of_an_instant_is_translated_as_itself() -> None:
    for second in (0, 1):
        sql = why_at("broker = 'b'", instant(NOON + timedelta(seconds=second)))
        assert translated(sql).text == itself(sql)


@pytest.mark.parametrize("view", ["brokers", "limiter_units", "runs", "subscription_rates", "topics"])
def test_views_are_translated_as_themselves(view: str) -> None:
    found = translated(sql_of(view))
    (statement,) = parsed(sql_of(view))
    assert found.text == for_duckdb(statement)
    assert found.names == {table.name.lower() for table in statement.find_all(exp.Table)}


def test_a_statement_is_parsed_once_for_all_names_and_instants(monkeypatch: pytest.MonkeyPatch) -> None:
    translated(asked("first"))
    parsings: list[str] = []

    def counted(sql: str) -> Any:
        parsings.append(sql)
        return parsed(sql)

    monkeypatch.setattr(module, "parsed", counted)
    for second in range(5):
        translated(asked(f"s{second}", NOON + timedelta(seconds=second)))
    assert parsings == []


def test_a_text_that_the_translation_looks_at_is_translated_each_time() -> None:
    for call in ("date_format(ts, 'yyyy-MM-dd')", "date_format(ts, 'HH:mm')", "date_trunc('MINUTE', ts)", "date_trunc('HOUR', ts)"):
        sql = f"SELECT {call} AS time FROM dispatch_events"
        assert translated(sql).text == translated(sql).text == itself(sql)


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_KEPT", 2)
    kept = module._Kept()
    monkeypatch.setattr(module, "_KEPT", kept)
    for column in ("broker", "epoch", "seq"):
        translated(f"SELECT {column} FROM names")
    assert len(kept._by_pattern) == 2


def test_files_that_have_a_table_s_columns_are_read_without_a_list_of_them(room: ReadingRoom, two_days: Warehouse) -> None:
    first = room.rows("SELECT * FROM names ORDER BY id")
    assert "default_value" not in text_of_view(room, "names")
    append(two_days, "names", [{"id": 2, "level": "topic", "topic": "persistent://t/n/a"}])
    room.refresh()
    assert room.rows("SELECT * FROM names ORDER BY id")[: len(first)] == first
    assert "default_value" not in text_of_view(room, "names")


def test_a_column_that_older_files_lack_is_null_there(room: ReadingRoom, two_days: Warehouse) -> None:
    from deltalake import DeltaTable, Field
    from deltalake.schema import PrimitiveType

    DeltaTable(two_days.table("names").removeprefix("file:")).alter.add_columns(Field("added", PrimitiveType("long"), nullable=True))
    assert [row["added"] for row in room.rows("SELECT * FROM names")] == [None]
    assert "default_value" in text_of_view(room, "names")


def test_many_files_are_not_looked_into(room: ReadingRoom, two_days: Warehouse) -> None:
    for seq in range(10, 20):
        append(two_days, "dispatch_events", [event(seq)])
    assert len(room.rows("SELECT seq FROM dispatch_events")) == 13
    assert "default_value" in text_of_view(room, "dispatch_events")


def text_of_view(room: ReadingRoom, name: str) -> str:
    ((text,),) = room._duckdb.execute(f"SELECT sql FROM duckdb_views() WHERE view_name = '{name}'").fetchall()
    return str(text)
