"""`/at/{time}/admin/v2`: what was known then, and nothing that came later."""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from broker_scrapes import ALWAYS
from capture_events import capture_events, write_events
from loaded import load_into

from pipeline.query.room import ReadingRoom
from pipeline.query.views.past import as_of, known_at
from pipeline.serving.admin import queries
from pipeline.serving.admin.asked_rows import Tables
from pipeline.serving.admin.names import NotFound
from pipeline.serving.admin.paths import path_of
from schemas.tables import TABLES_BY_NAME

(INCIDENT,) = (scrape for scrape in ALWAYS if scrape.name == "y_incident")
#: Of queries.py.
SOURCES = ("TOPICS", "SUBSCRIPTIONS", "THERE", "LIMITS", "BROKERS")
#: In the middle of the trouble, where windows end.
INSTANTS = ("2026-11-21T11:47:20+00:00", "2026-11-21T11:48:00+00:00", "2026-11-21T11:48:20+00:00")
LATER = datetime(2026, 11, 21, 11, 48, 28, tzinfo=UTC)


def us(at: str) -> int:
    return int(datetime.fromisoformat(at).timestamp()) * 1_000_000


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> ReadingRoom:
    """The log until its figures were taken: the broker still runs."""
    return loaded(INCIDENT.events(), tmp_path_factory.mktemp("whole"))


def loaded(events: list[dict[str, Any]], folder: Path) -> ReadingRoom:
    return ReadingRoom(
        load_into(write_events(events, folder / "log" / "events.jsonl.gz").parent, folder / "warehouse", lanes__window_ms="10000")
    )


def answer(room: ReadingRoom, path: str, at: str | None, **asked: str) -> Any:
    found, names = path_of(path)
    return json.loads(found.document(Tables(room, None if at is None else datetime.fromisoformat(at)), names, asked))


def rows(room: ReadingRoom, source: str, at: datetime | None) -> list[str]:
    return sorted(map(repr, room.rows(as_of(f"{getattr(queries, source)}\nSELECT * FROM answered", at))))


@pytest.mark.parametrize("at", INSTANTS[::2])
def test_the_answers_are_those_of_a_log_that_ended_then(at: str, whole: ReadingRoom, tmp_path: Path) -> None:
    ended = loaded([event for event in INCIDENT.events() if event["ts"] <= us(at)], tmp_path)
    for source in SOURCES:
        assert rows(whole, source, datetime.fromisoformat(at)) == rows(ended, source, None) != []
    assert rows(whole, "TOPICS", datetime.fromisoformat(at)) != rows(whole, "TOPICS", None)


def test_counters_and_evictions_grow_from_instant_to_instant(whole: ReadingRoom) -> None:
    counted = [
        answer(whole, "persistent/real/y/payments/stats", at)["subscriptions"]["ledger"]["dispatchThrottledMsgEventsBySubscriptionLimit"]
        for at in (*INSTANTS, None)
    ]
    assert sorted(counted) == counted
    assert counted[0] < counted[1] < counted[-1]


@pytest.mark.parametrize(
    ("at", "words"),
    [
        ("2020-01-01T00:00:00+00:00", "the first window of the log is over at 2026-11-21T11:47:00+00:00"),
        ("2026-11-21T11:46:59.999999+00:00", "the first window of the log is over at"),
        ("2026-11-22T00:00:00+00:00", "the tables reach 2026-11-21T11:48:"),
    ],
)
def test_an_instant_that_the_log_has_not_is_not_found(at: str, words: str, whole: ReadingRoom) -> None:
    with pytest.raises(NotFound, match=re.escape(words)):
        answer(whole, "tenants", at)


def test_a_restart_is_no_news_before_it_happened(tmp_path: Path) -> None:
    """The newest epoch of a broker is that of the instant: its earlier one is not gone."""
    events = capture_events(INCIDENT.log, until_as_of=False)
    shift_us = 600_000_000
    again = [{**event, "epoch": event["epoch"] + shift_us // 1000, "ts": event["ts"] + shift_us} for event in INCIDENT.events()]
    room = loaded([*events, *again], tmp_path)
    at = datetime.fromisoformat(INSTANTS[1])
    first, second = (backlogs(room, one) for one in (at, at + timedelta(microseconds=shift_us)))
    assert first == second
    assert len(first) > 10


def backlogs(room: ReadingRoom, at: datetime) -> set[tuple[Any, ...]]:
    return {(row["topic"], row["subscription"], row["back_log"]) for row in Tables(room, at).rows(queries.SUBSCRIPTIONS)}


@pytest.mark.parametrize("source", SOURCES)
def test_with_all_rows_a_query_gives_what_it_gives_now(source: str, whole: ReadingRoom) -> None:
    assert rows(whole, source, datetime(2100, 1, 1, tzinfo=UTC)) == rows(whole, source, None) != []


def test_every_table_but_books_has_when_its_rows_were_known() -> None:
    without = set()
    for name in TABLES_BY_NAME:
        try:
            known_at(name)
        except ValueError:
            without.add(name)
    assert not without & {"topic_backlog", "subscription_backlog", "quota_evictions", "policies", "broker_windows", "subscription_causes"}
    assert known_at("names") is None
    assert known_at("subscription_throttle") == "window_end"
    assert known_at("quota_evictions") == "resolved_at"


def test_a_query_that_nobody_can_ask_of_the_past_is_refused() -> None:
    with pytest.raises(ValueError, match="channels_now: reads more of dispatch_events"):
        as_of("SELECT * FROM channels_now", LATER)
    with pytest.raises(ValueError, match="no column has when"):
        as_of("SELECT * FROM lane_snapshots", LATER)
