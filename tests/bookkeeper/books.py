"""An independent bookkeeper: what the throttle tables must say about a log, in slow and obvious Python.

It shares no code with the product; it was written from the semantics reference and docs/design/throttling.md. Use it to judge the fold:

    books = keep_books(events)                       # contract events of one broker, any order, repeats and gaps allowed
    books.subscription_throttle == rows_of_ours      # lists of dicts with the columns of schemas/tables, timestamps in µs

When a comparison fails:
1. Sort both sides by the table's grain and print the first row that differs, only its differing columns.
2. Let hypothesis shrink the log (random_log.logs()), then read it event by event: it is short.
3. Ask who is right, with docs/design/throttling.md in hand. Where the text allows both, fix the text first. Then fix the wrong side;
   do not copy a rule from one side to the other without having read it there.
4. The captures decide between both: tests/captures/test_bookkeeper_captures.py compares this bookkeeper with real brokers' counters.

The parts: longs (saturation), limiter_models (token bucket, classic), limiters (their windows), walk (one read), backlog (who waits),
dispatchers (their windows), epoch_time (windows, gaps, steps of the clock), epoch_books (what each event does).
"""

from dataclasses import dataclass, field
from typing import Any

from bookkeeper.epoch_books import EpochBooks
from bookkeeper.epoch_time import EpochTime, ns_of

Event = dict[str, Any]
Row = dict[str, Any]


@dataclass
class Books:
    """Rows of the tables, sorted by their grain. `late` are events beyond the `broker_stop` of their epoch: they count nowhere."""

    subscription_throttle: list[Row] = field(default_factory=list)
    limiter_windows: list[Row] = field(default_factory=list)
    log_gaps: list[Row] = field(default_factory=list)
    late: list[Event] = field(default_factory=list)


GRAINS = {
    "subscription_throttle": ("epoch", "topic", "subscription", "opened_at", "clock_segment", "window_start"),
    "limiter_windows": ("epoch", "level", "topic", "subscription", "dimension", "created_at", "clock_segment", "window_start"),
    "log_gaps": ("epoch", "from_seq", "kind"),
}


def keep_books(
    events: list[Event],
    *,
    window_ms: int = 60_000,
    clock_step_ms: int = 1_000,
    lateness_ms: int = 10_000,
    drain: bool = True,
) -> Books:
    """The tables after all `events` of one broker.

    With `drain` every window closes and every gap is given up. Without it the newest window of a living epoch has no rows yet, and
    what lies behind a gap waits until `lateness_ms` of ns lie behind it, as in a lane that has seen all these events long ago.
    An epoch ends at its `broker_stop`, or when a newer one is `lateness_ms` old.
    Tombstones are {"tombstone": True, broker, epoch, seq, ts, ns}. ValueError if there are several brokers.
    """
    books = Books()
    brokers = {event["broker"] for event in events}
    if len(brokers) > 1:
        raise ValueError(f"one broker at a time, not {sorted(brokers)}")
    lives = {epoch: one_life([e for e in events if e["epoch"] == epoch], books) for epoch in sorted({e["epoch"] for e in events})}
    for epoch, life in lives.items():
        over = life[-1].get("type") == "broker_stop" or any(
            newer > epoch and ns_of(other[-1]) - ns_of(other[0]) >= lateness_ms * 1_000_000 for newer, other in lives.items()
        )
        epoch_books = EpochBooks(life[0]["broker"], epoch, window_ms, clock_step_ms)
        reached_end = replay(epoch_books, life, None if drain or over else lateness_ms * 1_000_000)
        if over and reached_end:
            epoch_books.end()
        elif drain:
            epoch_books.drain()
        for table, rows in epoch_books.rows.items():
            getattr(books, table).extend(rows)
    for table, grain in GRAINS.items():
        getattr(books, table).sort(key=lambda row, grain=grain: tuple("" if row[name] is None else row[name] for name in grain))
    return books


def one_life(events: list[Event], books: Books) -> list[Event]:
    """The events of one epoch in seq order, one of each seq (a sound copy before a tombstone), up to its `broker_stop`."""
    life: list[Event] = []
    for event in sorted(events, key=lambda e: (e["seq"], bool(e.get("tombstone")))):
        if life and event["seq"] == life[-1]["seq"]:
            continue
        if life and life[-1].get("type") == "broker_stop":
            books.late.append(event)
        else:
            life.append(event)
    return life


def replay(books: EpochTime, life: list[Event], lateness_ns: int | None) -> bool:
    """Apply an epoch's events; True if all were. Gaps are lost at once, or with `lateness_ns` only when that much lies behind them."""
    expected = 1
    for position, event in enumerate(life):
        if event["seq"] > expected:
            if lateness_ns is not None and max(map(ns_of, life[position:])) - ns_of(event) < lateness_ns:
                return False
            books.lose(expected, event["seq"] - 1, event["ts"])
        books.apply(event)
        expected = event["seq"] + 1
    return True
