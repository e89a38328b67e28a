"""How connections stand now, and what their write buffers hold: the views over small logs of the production lane, answers by hand."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import channel_logs as logs
import pytest
from captured_warehouse import room_over
from channel_logs import AUDIT, MB, PUBLISH_RATE
from log_builder import START_TS_US, TOPIC

from pipeline.query.room import ReadingRoom

VIEWS = ("newest_windows", "channels_now", "paused_connections", "channel_memory_now", "oom_risk")
BUFFER, COOLDOWN = "ConnectionOutboundBufferFull", "ConnectionPauseReceivingCooldownRateLimit"
HIGH = 65_536
Ask = Callable[[str, str, str], list[tuple[Any, ...]]]


def second(after_start: float) -> datetime:
    """That many seconds after the start of the logs."""
    return datetime.fromtimestamp(0, UTC) + timedelta(microseconds=START_TS_US + round(after_start * 1_000_000))


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> ReadingRoom:
    """Every log, each of a broker of its own."""
    return room_over(logs.every_log(), tmp_path_factory.mktemp("channels"))


@pytest.fixture(scope="module")
def ask(room: ReadingRoom) -> Ask:
    """`ask(view, broker, columns)`: rows of the view, in its order; times in UTC. Each view is read once."""
    rows = {view: room.rows(f"SELECT * FROM {view}") for view in VIEWS}

    def answer(view: str, broker: str, columns: str) -> list[tuple[Any, ...]]:
        values = [[row[name] for name in columns.split(", ")] for row in rows[view] if row["broker"] == broker]
        return [tuple(value.astimezone(UTC) if isinstance(value, datetime) else value for value in row) for row in values]

    return answer


def test_every_open_connection_has_its_state_and_the_worst_is_first(ask: Ask) -> None:
    found = ask("channels_now", "direct", "conn, state, writable, paused, in_cooldown, fresh")
    assert found == [
        (1, "paused", False, True, False, True),
        (6, "paused", True, True, False, True),
        (3, "cooldown", True, False, True, True),
        (2, "free", True, False, False, False),
    ]


def test_why_and_since_when_a_connection_is_paused(ask: Ask) -> None:
    found = ask(
        "channels_now", "direct", "conn, throttle_types, window_throttle_types, paused_since, paused_s, unwritable_since, cooldown_since"
    )
    assert found == [
        (1, [BUFFER], [BUFFER], second(10), 160.0, second(10), None),
        (6, [PUBLISH_RATE], [PUBLISH_RATE], second(160), 10.0, None, None),
        (3, [], [BUFFER], None, None, None, second(166)),
        (2, [], [], None, None, None, None),
    ]


def test_what_suffers_and_what_the_channel_held(ask: Ask) -> None:
    columns = "conn, remote, producers, topics, consumers, subscriptions, pending_bytes_last, pending_bytes_at_least"
    assert ask("channels_now", "direct", columns) == [
        (1, "10.0.0.1:1", 2, 1, 1, 1, 70_000, 7 * MB - 3 * HIGH),  # 2, 3 and 6 are writable: at most the high mark each
        (6, "10.0.0.6:1", 1, 1, 0, 0, None, 0),
        (3, "10.0.0.3:1", 0, 0, 0, 0, 16_481, 65_633),
        (2, "10.0.0.2:1", 0, 0, 0, 0, 16_481, 66_000),
    ]


def test_with_the_feature_off_a_connection_is_unwritable_and_nobody_pauses_it(ask: Ask) -> None:
    columns = "conn, state, throttle_types, unwritable_since, settings_vocabulary, pause_enabled, window_unwritable_s, as_of"
    assert ask("channels_now", "off", columns) == [
        (1, "unwritable", [], second(5), "pip", False, 10.0, second(70)),
        (2, "unwritable", [], second(6), "pip", False, 10.0, second(70)),
    ]
    assert ask("paused_connections", "off", "conn") == []


def test_connections_of_a_broker_that_stopped_or_died_are_not_open(ask: Ask) -> None:
    assert ask("channels_now", "stopped", "conn") == []
    assert ask("channels_now", "died", "epoch, conn, state") == [(1_795_260_090_000, 1, "free")]


def test_paused_now_first_then_paused_in_the_newest_window_with_the_topics_that_wait(ask: Ask) -> None:
    columns = "conn, paused, since, why, window_paused_s, producers, topics, topic_names, unwritable, in_cooldown"
    assert ask("paused_connections", "direct", columns) == [
        (1, True, second(10), [BUFFER], 50.0, 2, 1, [TOPIC], True, False),
        (6, True, second(160), [PUBLISH_RATE], 10.0, 1, 1, [AUDIT], False, False),
        (3, False, None, [BUFFER], 1.0, 0, 0, [], False, True),
    ]
    assert ask("paused_connections", "direct", "paused_share")[0] == (50 / 60,)


def test_a_pause_of_the_cooldown_and_an_id_that_was_used_before(ask: Ask) -> None:
    """The first connection 1 was closed while it was paused: that pause is not of the second one."""
    columns = "conn, remote, paused, since, why, paused_count, requests_limited, topic_names"
    assert ask("paused_connections", "limited", columns) == [
        (1, "10.0.0.9:9", False, None, [BUFFER, COOLDOWN], 2, 1, [TOPIC]),
    ]
    assert ask("paused_connections", "limited", "window_paused_s")[0][0] == pytest.approx(1.01)


def test_the_newest_level_of_a_broker_and_the_greatest_of_the_hour(ask: Ask) -> None:
    columns = "write_buf_memory_used_bytes, exact, known_from, known_at, known_s_ago, hour_max, hour_max_exact"
    assert ask("channel_memory_now", "direct", columns) == [(7 * MB, True, "heartbeat", second(170), 0.0, 7 * MB, True)]
    columns = "connections_open, connections_unwritable, connections_paused, fresh"
    assert ask("channel_memory_now", "direct", columns) == [(4, 1, 2, True)]


def test_a_level_without_heartbeats_is_a_bound_and_says_from_what(ask: Ask) -> None:
    """At 6 s: 80,000 bytes and the other one's low mark. In the next window the two low marks; PIP-434's defaults."""
    columns = "write_buf_memory_used_bytes, exact, known_from, hour_max, hour_max_exact"
    assert ask("channel_memory_now", "off", columns) == [(2 * 32_768, False, "marks", 80_000 + 32_768, False)]


def test_a_new_process_of_a_broker_begins_anew(ask: Ask) -> None:
    assert ask("channel_memory_now", "died", "epoch, write_buf_memory_used_bytes, hour_max") == [(1_795_260_090_000, 5_000, 65_633)]


GROWTH = (7 * MB - 1 * MB) / 120
#: Of connection 1: what it holds at least, by the heartbeats at 50 s (2, 3, 5, 6 are open, too) and 170 s (2, 3, 6).
OF_ONE = (7 * MB - 3 * HIGH, ((7 * MB - 3 * HIGH) - (1 * MB - 4 * HIGH)) / 120)


@pytest.mark.parametrize(
    ("broker", "limit", "limit_of", "status", "status_of_one"),
    [
        ("direct", 64 * 2**20, "direct memory", "at risk", "at risk"),  # 1,202 s
        ("heap", 20 * MB, "heap", "critical", "critical"),  # 260 s
        ("netty", 7_340_032, "direct memory", "critical", "critical"),
        ("none", None, None, "growing", "growing"),
    ],
)
def test_growth_against_the_memory_that_the_settings_name(
    ask: Ask, broker: str, limit: int | None, limit_of: str | None, status: str, status_of_one: str
) -> None:
    columns = "conn, status, bytes, exact, growth_bytes_s, limit_bytes, limit_of, windows, full_in_s"
    found = {row[0]: row[1:] for row in ask("oom_risk", broker, columns)}
    expected = {None: (status, 7 * MB, True, GROWTH), 1: (status_of_one, OF_ONE[0], False, OF_ONE[1])}
    assert found == {
        conn: (*row, limit, limit_of, 3, limit and pytest.approx(max(0, limit - row[1]) / row[3])) for conn, row in expected.items()
    }


def test_a_bound_that_falls_shows_nothing_and_neither_does_one_window(ask: Ask) -> None:
    """The new window of a channel that nothing is reported of begins with its low mark; it may hold any amount."""
    columns = "conn, status, bytes, exact, growth_bytes_s, pause_enabled"
    assert ask("oom_risk", "died", columns) == [(None, "unknown", 5_000, True, None, True)]
    assert sorted(ask("oom_risk", "off", columns), key=str) == [
        (1, "unknown", 32_768, False, (32_768 - 100_000) / 60, False),
        (2, "unknown", 32_768, False, (32_768 - 80_000) / 60, False),
        (None, "unknown", 65_536, False, (65_536 - 112_768) / 64, False),  # known at 6 s, and at 70 s, the last event
    ]


def test_the_views_have_one_row_for_what_they_promise(room: ReadingRoom) -> None:
    for view, key in (("channels_now", "broker, conn"), ("paused_connections", "broker, conn"), ("channel_memory_now", "broker")):
        ((rows, keys),) = room.ask(f"SELECT count(*), count(DISTINCT {key}) FROM {view}").rows
        assert rows == keys > 0
