"""The views of channels over the log of a real broker, cut at the moment at which its write buffers held most."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from capture_events import capture_events
from captured_warehouse import room_over
from lane_tables import SETTINGS

pytestmark = pytest.mark.captures

Rows = Callable[[str], list[SimpleNamespace]]
MOST_BYTES = 45_159_623


@pytest.fixture(scope="module")
def events(captures: Path) -> list[dict[str, Any]]:
    """`o_unwritable` up to the heartbeat that reports most bytes."""
    log = capture_events(captures / "o_unwritable")
    levels = [event.get("pending_bytes", -1) if event["type"] == "heartbeat" else -1 for event in log]
    assert max(levels) == MOST_BYTES
    return log[: levels.index(MOST_BYTES) + 1]


@pytest.fixture(scope="module")
def rows_of(events: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """The rows of a view. Windows of 5 s, so that there is growth to see."""
    room = room_over([events], tmp_path_factory.mktemp("unwritable"), replace(SETTINGS, window_ms=5_000))
    return lambda view: [SimpleNamespace(**row) for row in room.rows(f"SELECT * FROM {view}")]


def utc(us: int) -> datetime:
    """A ts of the log."""
    return datetime.fromtimestamp(0, UTC) + timedelta(microseconds=us)


def test_connections_stand_as_their_last_writability_left_them(rows_of: Rows, events: list[dict[str, Any]]) -> None:
    last = {event["conn"]: event for event in events if event["type"] == "writability"}
    began = {event["conn"]: event["ts"] for before, event in _turned_unwritable(events)}
    opened = {event["conn"]: event["remote"] for event in events if event["type"] == "conn_open"}
    assert set(last) == {3, 6}
    rows = {row.conn: row for row in rows_of("channels_now")}
    assert set(rows) == set(last)
    assert not all(event["writable"] for event in last.values())
    for conn, event in last.items():
        row = rows[conn]
        assert (row.writable, row.pending_bytes_last, row.remote) == (event["writable"], event["pending_bytes"], opened[conn])
        assert row.settings_vocabulary == "shipped"
        if not event["writable"]:
            assert (row.state, row.throttle_types) == ("paused", ["ConnectionOutboundBufferFull"])
            assert row.paused_since.astimezone(UTC) == row.unwritable_since.astimezone(UTC) == utc(began[conn])


def _turned_unwritable(events: list[dict[str, Any]]) -> list[tuple[bool, dict[str, Any]]]:
    writable: dict[int, bool] = {}
    turned = []
    for event in events:
        if event["type"] == "writability":
            if writable.get(event["conn"], True) and not event["writable"]:
                turned.append((True, event))
            writable[event["conn"]] = event["writable"]
    return turned


def test_paused_connections_name_the_topics_of_their_producers(rows_of: Rows, events: list[dict[str, Any]]) -> None:
    topics: dict[int, set[str]] = {}
    for event in events:
        if event["type"] == "producer_open":
            topics.setdefault(event["conn"], set()).add(event["topic"])
    rows = rows_of("paused_connections")
    assert any(row.paused for row in rows)
    for row in rows:
        assert set(row.topic_names) == topics.get(row.conn, set())
        assert row.topics == len(row.topic_names)
        assert 0 < row.window_paused_s <= 5


def test_the_level_is_the_heartbeat_s(rows_of: Rows) -> None:
    (row,) = rows_of("channel_memory_now")
    assert (row.write_buf_memory_used_bytes, row.exact, row.known_from, row.hour_max) == (MOST_BYTES, True, "heartbeat", MOST_BYTES)
    assert row.connections_open == 6
    assert row.connections_paused == row.connections_unwritable > 0


def test_without_a_limit_growth_is_shown_and_no_moment(rows_of: Rows, events: list[dict[str, Any]]) -> None:
    (broker,) = [row for row in rows_of("oom_risk") if row.conn is None]
    assert (broker.bytes, broker.exact, broker.limit_bytes, broker.full_in_s) == (MOST_BYTES, True, None, None)
    last_of_window = {event["ts"] // 5_000_000: event for event in events if event["type"] == "heartbeat" and "pending_bytes" in event}
    newest = sorted(last_of_window)[-5:]
    first, last = last_of_window[newest[0]], last_of_window[newest[-1]]
    grown = (last["pending_bytes"] - first["pending_bytes"]) / ((last["ts"] - first["ts"]) / 1e6)
    assert broker.growth_bytes_s == pytest.approx(grown)
    assert broker.status == "growing"
