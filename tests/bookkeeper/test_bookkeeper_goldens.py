"""The bookkeeper by hand: golden cases of the semantics reference (section 5), and small logs that a person can follow."""

from typing import Any

import pytest
from bookkeeper.books import keep_books
from bookkeeper.limiter_models import ClassicWindow, TokenBucket
from bookkeeper.random_log import tombstone
from bookkeeper.walk import walk

MS = 1_000_000
SECOND = 1000 * MS
MINUTE_US = 28_333_333 * 60_000_000
WHERE = {"topic": "persistent://t/n/a", "sub": "s"}
OPEN = {"type": "dispatcher_open", **WHERE, "sub_type": "Shared"}
LOAD = {"type": "topic_load", "topic": WHERE["topic"]}
BEAT = {"type": "heartbeat", "dropped": 0}
Event = dict[str, Any]


def read(**answers: int) -> Event:
    return {"type": "read", **WHERE, "sub_type": "Shared", "want_msgs": 100, "want_bytes": 1_000_000, **answers}


def rate(level: str = "subscription", msg: int = 10, size: int = -1, period_s: int = 1, limiter: str = "token_bucket") -> Event:
    rates = {"msg_rate": msg, "byte_rate": size, "period_s": period_s, "relative": False, "limiter": limiter}
    return {"type": "dispatch_rate", "level": level, **WHERE, **rates}


def dispatch(n: int, **more: Any) -> Event:
    return {"type": "dispatch", **WHERE, "entries": n, "msgs": n, "bytes": n * 100, **more}


def publish(entry: int, size: int = 100) -> Event:
    return {"type": "publish", "topic": WHERE["topic"], "ledger": 7, "entry": entry, "msgs": 1, "bytes": size, "publish_ts": 0}


def log(*timed: tuple[float, Event]) -> list[Event]:
    """Events at seconds after a full minute; `ts_s` in an event moves its wall clock away from its ns."""
    made = []
    for seq, (second, event) in enumerate(timed, start=1):
        ts = MINUTE_US + int(event.get("ts_s", second) * 1_000_000)
        made.append({"v": 1, "broker": "b:1", "epoch": 1, "seq": seq, "ts": ts, "ns": SECOND + int(second * SECOND), **event})
    return made


def column(rows: list[dict[str, Any]], name: str) -> list[Any]:
    return [row[name] for row in rows]


@pytest.mark.parametrize(
    ("case", "consumed", "polls"),
    [
        ("A7", 11, [(1000, -1), (1000.000001, 9)]),
        (
            "A8",
            30,
            [(500, -20), (1000, -20), (1001, -10), (1500, -10), (2000, -10), (2001, -10), (2002, 0), (3001, 0), (3002, 0), (3003, 10)],
        ),
        ("A9", 30, [(2500, 5), (3500, 5), (3501, 10)]),
        ("A10", 0, [(5000, 10)]),
    ],
)
def test_token_bucket_of_ten_a_second(case: str, consumed: int, polls: list[tuple[float, int]]) -> None:
    bucket = TokenBucket.made(10, 1, 0)
    bucket.consume(consumed, 0)
    for at_ms, balance in polls:
        assert bucket.ask(round(at_ms * MS)) == max(0, balance), case
        assert bucket.balance(0) == balance, case


def test_a10_what_is_consumed_before_a_query_is_netted_against_the_refill() -> None:
    bucket = TokenBucket.made(10, 1, 0)
    bucket.consume(10, 5 * SECOND)
    assert bucket.ask(5 * SECOND) == 10
    bucket.consume(10, 5 * SECOND)
    assert bucket.ask(5 * SECOND) == 0


def test_a11_long_periods() -> None:
    hundred, five = TokenBucket.made(100, 360, 0), TokenBucket.made(5, 360, 0)
    hundred.consume(100, 0)
    five.consume(7, 0)
    assert [hundred.ask(at) for at in (359 * SECOND, 360 * SECOND, 360 * SECOND + 1)] == [0, 0, 100]
    assert [five.ask(361 * SECOND), five.ask(722 * SECOND + 1)] == [3, 5]


def test_a16_the_largest_rate_does_not_wrap() -> None:
    bucket = TokenBucket.made(2**63 - 1, 10, 0)
    bucket.consume(2**63 - 1, 0)
    assert bucket.ask(10_000 * MS) == 0
    assert bucket.ask(10_001 * MS) == 2**63 - 1


def test_a3_classic_debt_takes_whole_windows() -> None:
    window = ClassicWindow.made(10, 1)
    window.consume(30, 500 * MS)
    assert [window.ask(at * MS) for at in (500, 1499, 1500, 2500, 3499, 3500)] == [0, 0, 0, 0, 0, 10]
    window.consume(11, 3600 * MS)
    assert window.ask(4500 * MS) == 9


def test_a5_a_rate_update_keeps_what_is_acquired_and_restarts_the_timer() -> None:
    up, down = ClassicWindow.made(10, 1), ClassicWindow.made(10, 1)
    for window in (up, down):
        window.consume(7, 0)
    up.reapply(20, 1, 900 * MS)
    down.reapply(5, 1, 900 * MS)
    assert up.ask(900 * MS) == 13
    assert [down.ask(at * MS) for at in (900, 1899, 1900)] == [0, 0, 3]


@pytest.mark.parametrize(
    ("case", "answers", "lowered", "left"),
    [
        (
            "A24",
            {"broker": (-1, -1), "topic": (10, -1), "subscription": (5, 1024)},
            ["topic msg", "subscription msg", "subscription bytes"],
            (5, 1024),
        ),
        ("A25", {"topic": (10, -1), "subscription": (10, -1)}, ["topic msg"], (10, 5_242_880)),
        ("A26", {"broker": (0, -1), "topic": (0, 0), "subscription": (0, 0)}, ["broker msg"], (-1, -1)),
        ("A27", {"broker": (50, 0)}, ["broker msg", "broker bytes"], (-1, -1)),
        ("trap 20", {"topic": (2**31, -1), "subscription": (2**32 + 3, -1)}, ["subscription msg"], (3, 5_242_880)),
    ],
)
def test_the_walk(case: str, answers: dict[str, tuple[int, int]], lowered: list[str], left: tuple[int, int]) -> None:
    result = walk(100, 5_242_880, answers.get)
    assert [f"{level} {dimension}" for level, dimension, _ in result.lowered] == lowered, case
    assert result.left == left, case


def test_blocked_time_is_split_at_borders_and_shown_in_windows_without_events() -> None:
    rows = keep_books(log((0, LOAD), (1, OPEN), (50, read(sub_msgs=0)), (200, read(sub_msgs=5)), (201, BEAT))).subscription_throttle
    assert column(rows, "blocked_ns_by_subscription_limit") == [10 * SECOND, 60 * SECOND, 60 * SECOND, 20 * SECOND]
    assert column(rows, "reads_blocked") == [1, 0, 0, 0]
    assert column(rows, "dispatch_throttled_msg_events_by_subscription_limit_since_open") == [1, 1, 1, 2]


def test_a_drain_charges_blocked_time_until_the_last_event_and_leaves_the_dispatcher_open() -> None:
    (row,) = keep_books(log((0, LOAD), (1, OPEN), (10, read(topic_bytes=0)), (25, BEAT))).subscription_throttle
    assert (row["blocked_ns_by_topic_limit"], row["closed_at"], row["complete"]) == (15 * SECOND, None, True)


def test_broker_stop_ends_everything() -> None:
    books = keep_books(log((0, LOAD), (1, OPEN), (1, rate()), (10, read(sub_msgs=0)), (12, {"type": "broker_stop"})))
    assert column(books.subscription_throttle + books.limiter_windows, "closed_at") == [MINUTE_US + 12_000_000] * 2


def test_binding_is_when_more_waits_than_was_granted() -> None:
    published = [(2, publish(entry)) for entry in range(10)]
    log_ = log((0, LOAD), (1, OPEN), *published, (3, read(sub_msgs=9)), (3, dispatch(9)), (4, read(sub_msgs=1)), (5, read(sub_bytes=0)))
    (row,) = keep_books(log_).subscription_throttle
    assert (row["reads_binding"], row["reads_nominal"], row["waiting_entries"], row["waiting_bytes"]) == (2, 1, 1, 100)


def test_the_cursor_is_rewound_when_the_last_consumer_leaves() -> None:
    cursor = {"type": "cursor_open", **WHERE, "durable": True, "ledger": 7, "entry": -1}
    leave = {"type": "consumer_close", **WHERE, "consumer": 1, "conn": 1}
    mark = {"type": "mark_delete", **WHERE, "ledger": 7, "entry": 1, "persisted": False}
    sizes = [(2, publish(entry, size=100 + entry)) for entry in range(4)]
    log_ = log((0, LOAD), (0, cursor), (1, OPEN), *sizes, (3, dispatch(4, bytes=406)), (4, mark), (5, leave))
    (row,) = keep_books(log_).subscription_throttle
    assert (row["waiting_entries"], row["waiting_bytes"]) == (2, 406 - 2 * (406 // 4))


def test_the_models_answers_drive_the_counters_where_the_log_has_none() -> None:
    log_ = log((0, LOAD), (1, OPEN), (1, rate(msg=10)), (1, read()), (1, dispatch(12)), (2, read()), (2.001, read()))
    books = keep_books(log_)
    (row,), (limiter,) = books.subscription_throttle, books.limiter_windows
    assert (row["source"], row["reads_shrunk"], row["reads_blocked"], row["blocked_ns"]) == ("modelled", 2, 1, MS)
    assert (limiter["used"], limiter["over_delivered"], limiter["asks"], limiter["asks_blocked"]) == (12, 2, 3, 1)
    assert (limiter["permits_start"], limiter["permits_end"], limiter["debt"]) == (10, 8, 0)


def test_a_rate_that_goes_away_leaves_its_figures() -> None:
    log_ = log((0, LOAD), (1, rate("topic", msg=10)), (2, OPEN), (3, dispatch(4)), (4, rate("topic", msg=0)), (5, dispatch(4)))
    (row,) = keep_books(log_).limiter_windows
    assert (row["rate"], row["used"], row["permits_end"], row["closed_at"]) == (10, 4, 0, None)


@pytest.mark.parametrize("damaged", [False, True])
def test_what_is_missing_shows_in_the_windows_it_touches(damaged: bool) -> None:
    log_ = log((0, LOAD), (1, OPEN), (2, rate()), (50, BEAT), (70, read(sub_msgs=5)), (130, read(sub_msgs=5)))
    log_ = [*log_[:3], *([tombstone(log_[3])] if damaged else []), *log_[4:]]
    books = keep_books(log_)
    assert column(books.subscription_throttle, "completeness") == ([3 / 4, 1.0, 1.0] if damaged else [3 / 4, 1 / 2, 1.0])
    assert column(books.subscription_throttle + books.limiter_windows, "complete") == [False] * 6
    lost = [(row["from_seq"], row["to_seq"], row["events"]) for row in books.log_gaps]
    assert lost == ([] if damaged else [(4, 4, 1)])


def test_a_clock_that_goes_back_closes_the_window() -> None:
    log_ = log((0, LOAD), (1, OPEN), (30, read(sub_msgs=0)), (40, {**BEAT, "ts_s": 10}), (50, {**read(sub_msgs=1), "ts_s": 20}))
    books = keep_books(log_)
    assert column(books.subscription_throttle, "clock_segment") == [0, 1]
    assert column(books.subscription_throttle, "blocked_ns") == [10 * SECOND, 10 * SECOND]
    assert [(row["kind"], row["from_seq"], row["step_us"]) for row in books.log_gaps] == [("clock_step", 4, -30_000_000)]


def test_without_a_drain_the_newest_window_has_no_rows_and_a_fresh_hole_waits() -> None:
    log_ = log((0, LOAD), (1, OPEN), (2, read(sub_msgs=5)), (61, BEAT), (62, BEAT), (63, BEAT))
    assert column(keep_books(log_, drain=False).subscription_throttle, "window_start") == [MINUTE_US]
    assert keep_books([*log_[:3], *log_[4:]], drain=False).subscription_throttle == []
