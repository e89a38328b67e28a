"""Logs for `bench fold`, as lane rows made with numpy: one broker, one epoch, `seq` from 1 and without a hole."""

import numpy as np

from pipeline.rules.array import Array
from schemas.events import CODES
from schemas.lane_columns import COLUMN, LANE_COLUMNS, SLOT_FIELDS

EPOCH = 1_700_000_000_000
US_PER_EVENT = 50
PER_LEDGER = 50_000
SUBSCRIPTIONS = 3
#: Of ten entries, those that stay unacknowledged: holes.
HOLES = (2, 5, 8)


def rows_of(event_type: str, count: int, topic: Array | int, sub: Array | int = 0, **fields: Array | int) -> Array:
    """`count` rows of a type, without `seq` and time: `numbered` gives them both."""
    rows = np.zeros((count, len(LANE_COLUMNS)), dtype=np.int64)
    rows[:, COLUMN["epoch"]], rows[:, COLUMN["type_code"]] = EPOCH, CODES[event_type]
    rows[:, COLUMN["topic_id"]], rows[:, COLUMN["sub_id"]] = topic, sub
    for slot, name in enumerate(SLOT_FIELDS.get(event_type, ())):
        if name in fields:
            rows[:, COLUMN[f"s{slot}"]] = fields[name]
            rows[:, COLUMN["mask"]] |= 1 << slot
    return rows


def numbered(rows: Array, first: int = 1) -> Array:
    """The rows in their order, US_PER_EVENT apart; publishes carry their time."""
    seq = np.arange(first, first + len(rows))
    rows[:, COLUMN["seq"]], rows[:, COLUMN["ts"]], rows[:, COLUMN["ns"]] = seq, EPOCH * 1000 + seq * US_PER_EVENT, seq * US_PER_EVENT * 1000
    is_publish = rows[:, COLUMN["type_code"]] == CODES["publish"]
    slot = COLUMN[f"s{SLOT_FIELDS['publish'].index('publish_ts')}"]
    rows[is_publish, slot] = rows[is_publish, COLUMN["ts"]] // 1000
    return rows


def cut(rows: Array, before: int) -> tuple[Array, Array]:
    """(measured, before) of numbered rows."""
    return rows[before:], rows[:before]


def repeated(rows: Array, copies: int) -> Array:
    """A log `copies` times, one after the other, each with topics and subscriptions of its own; without its broker's end."""
    rows = rows[rows[:, COLUMN["type_code"]] != CODES["broker_stop"]]
    span_us = int(rows[-1, COLUMN["ts"]] - rows[0, COLUMN["ts"]]) + 1000
    parts = []
    for number in range(copies):
        part = rows.copy()
        for column in ("topic_id", "sub_id"):
            part[:, COLUMN[column]] ^= np.where(part[:, COLUMN[column]] != 0, number << 40, 0)
        part[:, COLUMN["seq"]] += number * len(rows)
        part[:, COLUMN["ts"]] += number * span_us
        part[:, COLUMN["ns"]] += number * span_us * 1000
        parts.append(part)
    return np.concatenate(parts)


def loads(topics: Array) -> Array:
    """Every topic is loaded, with quotas that are never exceeded, a ledger, and durable cursors at its beginning."""
    count = len(topics)
    kinds = [
        rows_of("topic_load", count, topics),
        rows_of("backlog_quota", count, topics, quota_type=0, limit=2**60, policy=0),
        rows_of("backlog_quota", count, topics, quota_type=1, limit=-1, policy=0),
        rows_of("ledger_open", count, topics, ledger=1, snapshot=1),
    ]
    for number in range(SUBSCRIPTIONS):
        kinds.append(rows_of("cursor_open", count, topics, topics * 10 + number, ledger=1, entry=-1, durable=1))
        kinds.append(rows_of("dispatcher_open", count, topics, topics * 10 + number, sub_type=1))
    return np.stack(kinds, axis=1).reshape(-1, len(LANE_COLUMNS))


def published(topics: Array, first: int, entries: int) -> Array:
    """`entries` of every topic from number `first` on, topics in turn."""
    number, topic = np.repeat(np.arange(first, first + entries), len(topics)), np.tile(topics, entries)
    return rows_of(
        "publish", len(topic), topic, ledger=1 + number // PER_LEDGER, entry=number % PER_LEDGER, msgs=2, bytes=900, publish_ts=0
    )


def acknowledged(topics: Array, numbers: Array) -> Array:
    """Entries of those numbers, but for holes, by all subscriptions of all topics, in turn."""
    numbers = numbers[~np.isin(numbers % 10, HOLES)]
    subs = np.arange(SUBSCRIPTIONS)
    number = np.repeat(numbers, len(topics) * SUBSCRIPTIONS)
    topic, sub = np.tile(np.repeat(topics, SUBSCRIPTIONS), len(numbers)), np.tile(subs, len(numbers) * len(topics))
    return rows_of("ack", len(number), topic, topic * 10 + sub, ledger=1 + number // PER_LEDGER, entry=number % PER_LEDGER, ack_type=0)


def moved(topics: Array, number: int) -> Array:
    """The mark-delete positions of all subscriptions pass entry `number`."""
    subs = np.tile(np.arange(SUBSCRIPTIONS), len(topics))
    topic = np.repeat(topics, SUBSCRIPTIONS)
    place = {"ledger": 1 + number // PER_LEDGER, "entry": number % PER_LEDGER}
    return rows_of("mark_delete", len(topic), topic, topic * 10 + subs, **place, persisted=0)


def checks(topics: Array) -> Array:
    """A round of quota checks."""
    start, end = rows_of("quota_round", 1, 0, phase=0), rows_of("quota_round", 1, 0, phase=1, duration_us=9)
    return np.concatenate((start, rows_of("quota_check", len(topics), topics, duration_us=8), end))


def deep_backlog(topics: int, retained: int, events: int) -> tuple[Array, Array]:
    """(measured, before): topics that retain `retained` entries each, of which every cursor has acknowledged seven of ten; from there on
    as many entries come at the end as go at the beginning, with a round of checks in every 100,000 events.
    """
    ids = np.arange(1, topics + 1)
    parts = [loads(ids), published(ids, 0, retained), acknowledged(ids, np.arange(retained))]
    before = sum(map(len, parts))
    step = max(10, min(retained // 10, 10_000 // topics) // 10 * 10)
    measured, since_check, first = 0, 0, 0
    while measured < events:
        # A cursor passes `step` entries, holes and all, when its oldest holes are acknowledged cumulatively.
        new = [published(ids, retained + first, step), acknowledged(ids, np.arange(retained + first, retained + first + step))]
        new.append(moved(ids, first + step - 1))
        if since_check >= 100_000:
            new.append(checks(ids))
            since_check = 0
        size = sum(map(len, new))
        measured, since_check, first = measured + size, since_check + size, first + step
        parts += new
    return cut(numbered(np.concatenate(parts)), before)


def idle_topics(idle: int, busy: int, events: int) -> tuple[Array, Array]:
    """(measured, before): a broker with many topics of which few are busy."""
    everyone, active = np.arange(1, idle + busy + 1), np.arange(1, busy + 1) * (1 + idle // busy)
    parts = [loads(everyone)]
    before, first = len(parts[0]), 0
    while sum(map(len, parts)) - before < events:
        parts += [published(active, first, 20), acknowledged(active, np.arange(first, first + 20)), moved(active, first + 19)]
        first += 20
    return cut(numbered(np.concatenate(parts)), before)


def one_limiter(dispatchers: int, events: int) -> tuple[Array, Array]:
    """(measured, before): one broker-wide limiter that all dispatchers ask; every second read is granted and delivers."""
    topics = np.arange(1, dispatchers + 1)
    rate = rows_of("dispatch_rate", 1, 0, level=0, msg_rate=100_000, byte_rate=2**27, period_s=1, relative=0, limiter=0)
    parts = [rate, loads(topics)]
    before, number = sum(map(len, parts)), 0
    asks = {"want_left_msgs": (100 << 32) + 102, "want_bytes": 5_000_000, "broker_bytes": 2**27}
    while sum(map(len, parts)) - before < events:
        turn = [
            published(topics, number, 1),
            rows_of("read", dispatchers, topics, topics * 10, **asks, broker_msgs_or_debt=5_000),
            rows_of("dispatch", dispatchers, topics, topics * 10, entries=1, msgs=2, bytes=900),
            rows_of("read", dispatchers, topics, topics * 10, **asks, broker_msgs_or_debt=0),
        ]
        parts.append(np.stack(turn, axis=1).reshape(-1, len(LANE_COLUMNS)))
        number += 1
    return cut(numbered(np.concatenate(parts)), before)
