"""Files are skipped by what Delta's log says of them, never one with a row that a query asks for."""

from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from hypothesis import given
from hypothesis import strategies as st
from query.conftest import append, event

from pipeline.faults import BadConfig
from pipeline.query import room as reading_room
from pipeline.query.dialect import parsed
from pipeline.query.room import ReadingRoom
from pipeline.query.skipping import bounded_scans, may_be_within
from pipeline.warehouse.layout import Warehouse

LEAST, MOST = -(2**63), 2**63 - 1


def bounds(sql: str) -> list[tuple[str, dict[str, tuple[int, int]]]]:
    (statement,) = parsed(sql)
    return [(scan.table.name, dict(scan.bounds)) for scan in bounded_scans(statement)]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("seq = 1", {"seq": (1, 1)}),
        ("seq < 5 AND seq >= -3", {"seq": (-3, 4)}),
        ("5 > seq AND (ts > 7 AND ts <= 9)", {"seq": (LEAST, 4), "ts": (8, 9)}),
        ("d.seq BETWEEN 2 AND 4 AND type = 'read'", {"seq": (2, 4)}),
        ("seq = 1 AND (ts = 3 OR epoch = 4)", {"seq": (1, 1)}),
        ("SEQ = 1", {"SEQ": (1, 1)}),
        ("seq = 1 OR ts = 3", None),
        ("NOT seq = 1", None),
        ("seq <> 1", None),
        ("NOT (seq BETWEEN 2 AND 4)", None),
        ("seq = '1'", None),
        ("seq = 1.5", None),
        ("seq + 1 = 1", None),
        ("other.seq = 1", None),
        ("seq = ts", None),
    ],
)
def test_bounds_are_what_every_row_must_meet(where: str, expected: dict[str, tuple[int, int]] | None) -> None:
    found = bounds(f"SELECT * FROM dispatch_events d WHERE {where}")
    assert found == ([] if expected is None else [("dispatch_events", expected)])


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM dispatch_events",
        "SELECT 1 WHERE 1 = 1",
        "SELECT * FROM dispatch_events d JOIN names n ON n.id = d.seq WHERE seq = 1",
        "SELECT * FROM dispatch_events d LEFT JOIN names n ON n.id = d.seq WHERE d.seq = 1",
        "SELECT * FROM dispatch_events LATERAL VIEW explode(array(1)) AS x WHERE seq = 1",
        "SELECT * FROM (SELECT 1 AS seq) WHERE seq = 1",
        "WITH dispatch_events AS (SELECT 2 AS seq) SELECT * FROM dispatch_events WHERE seq = 1",
        "WITH Dispatch_Events AS (SELECT 2 AS seq) SELECT * FROM dispatch_events WHERE seq = 1",
        "SELECT * FROM names AS n(seq, id) WHERE id = 1",
    ],
)
def test_no_bounds_where_a_row_may_come_from_elsewhere(sql: str) -> None:
    assert bounds(sql) == []


def test_each_scan_has_its_own_bounds() -> None:
    found = bounds(
        "SELECT (SELECT max(ts) FROM names WHERE id = 4) FROM dispatch_events WHERE seq = 1"
        " UNION ALL SELECT ts FROM dispatch_events WHERE seq IN (SELECT seq FROM log_gaps WHERE from_seq > 3)"
    )
    assert sorted(found) == [("dispatch_events", {"seq": (1, 1)}), ("log_gaps", {"from_seq": (4, MOST)}), ("names", {"id": (4, 4)})]


numbers = st.integers(-5, 5)


@given(st.tuples(numbers, numbers), st.lists(numbers, min_size=1))
def test_a_file_with_a_row_within_the_bounds_is_never_skipped(asked: tuple[int, int], values: list[int]) -> None:
    kept = may_be_within({"seq": asked}, {"seq": min(values)}, {"seq": max(values)})
    assert kept or not any(asked[0] <= value <= asked[1] for value in values)
    assert not (kept and (min(values) > asked[1] or max(values) < asked[0])), "a file beyond the bounds is not read"


@pytest.mark.parametrize("known", [{}, {"seq": None}])
def test_what_the_log_does_not_have_excludes_nothing(known: dict[str, Any]) -> None:
    assert may_be_within({"seq": (7, 7)}, known, known)


@pytest.fixture
def skipping(two_days: Warehouse, monkeypatch: pytest.MonkeyPatch) -> ReadingRoom:
    """Any table has many files. The first one of dispatch_events, with events 1 and 2, cannot be read."""
    monkeypatch.setattr(reading_room, "SEVERAL_FILES", 1)
    append(two_days, "dispatch_events", [event(4, day=6)])
    (first,) = (folder_of(two_days) / "event_date=2026-01-05").glob("*.parquet")
    first.write_bytes(b"nothing that could be read")
    return ReadingRoom(two_days)


def folder_of(warehouse: Warehouse) -> Path:
    return Path(warehouse.table("dispatch_events").removeprefix("file:"))


def seqs(room: ReadingRoom, sql: str) -> list[int]:
    return [row[0] for row in room.ask(sql).rows]


def test_a_file_that_cannot_have_such_rows_is_not_opened(skipping: ReadingRoom) -> None:
    assert seqs(skipping, "SELECT seq FROM dispatch_events WHERE seq > 2 ORDER BY seq") == [3, 4]
    assert seqs(skipping, "SELECT d.seq FROM dispatch_events AS d WHERE d.seq = 3") == [3]
    assert seqs(skipping, "SELECT dispatch_events.seq FROM dispatch_events WHERE dispatch_events.seq = 4") == [4]
    assert seqs(skipping, "SELECT seq FROM dispatch_events WHERE seq = 99") == []
    assert skipping.rows("SELECT count(*) AS n FROM dispatch_events WHERE seq BETWEEN 3 AND 9") == [{"n": 2}]
    with pytest.raises(BadConfig):
        skipping.ask("SELECT seq FROM dispatch_events WHERE seq >= 2")


def test_rows_that_a_deletion_vector_takes_away_stay_away(skipping: ReadingRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = str(next(path for path in (folder_of(skipping.warehouse) / "event_date=2026-01-06").glob("*.parquet")))
    monkeypatch.setattr("pipeline.query.delta_table._has", lambda *_: True)
    monkeypatch.setattr("pipeline.query.delta_table._removed", lambda *_: ((kept, 0),))
    assert len(seqs(skipping, "SELECT seq FROM dispatch_events WHERE seq > 2")) == 1


def test_after_a_refresh_new_files_are_seen(skipping: ReadingRoom) -> None:
    asked = "SELECT seq FROM dispatch_events WHERE seq > 3 ORDER BY seq"
    assert seqs(skipping, asked) == [4]
    append(skipping.warehouse, "dispatch_events", [event(5, day=6)])
    assert seqs(skipping, asked) == [4]
    skipping.refresh()
    assert seqs(skipping, asked) == [4, 5]


def test_a_table_of_few_files_is_read_without_a_look_into_its_log(two_days: Warehouse) -> None:
    room = ReadingRoom(two_days)
    assert len(DeltaTable(folder_of(two_days).as_uri()).file_uris()) < reading_room.SEVERAL_FILES
    assert seqs(room, "SELECT seq FROM dispatch_events WHERE seq > 2") == [3]
    assert room._duckdb.execute("SELECT view_name FROM duckdb_views() WHERE view_name LIKE '%within%'").fetchall() == []
