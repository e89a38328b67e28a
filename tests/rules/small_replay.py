"""A replay of one topic, written by hand: what a test gives it, and what it reads off."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from pipeline.rules.broker.layout import LIMITER_ROW, NONE
from pipeline.rules.records import empty_rows
from pipeline.rules.replay.kinds import ARRIVE, LEAVE, PUBLISH, QUOTA, RATE, SAMPLE, SUBSCRIBE
from pipeline.rules.replay.layout import CONSUMER, ENTRY, GIVEN, LEDGER, PACE, PLAN, SUB, TOPIC, Replay
from pipeline.rules.replay.loop import run
from pipeline.rules.replay.rows import empty_replay

MS, SECOND = 1_000_000, 1_000_000_000
PPM = 1_000_000
TOPIC_LIMITER, SUB_LIMITER = 1, 2
TOKEN_BUCKET = 0
BATCH = 100


@dataclass
class Sub:
    """One subscription: consumers by their receiver queues, all there from the beginning; a pace by (from ns, ns a message)."""

    queues: tuple[int, ...] = (1000,)
    pace: tuple[tuple[int, int], ...] = ((0, 0),)
    single: bool = False
    ack_after_ns: int = 0
    leaves: dict[int, int] = field(default_factory=dict)


Given = tuple[int, ...]


def published(times_ns: Sequence[int]) -> list[Given]:
    """Entries of the topic, one at each of these times."""
    return [(ns, PUBLISH, 0) for ns in times_ns]


def sampled(*times_ns: int) -> list[Given]:
    """Samples, numbered from 0."""
    return [(ns, SAMPLE, number) for number, ns in enumerate(times_ns)]


def rate(limiter: int, msgs: int = -1, size: int = -1, at_ns: int = 0, kind: int = TOKEN_BUCKET) -> Given:
    """A rate a second, applied to a limiter."""
    return at_ns, RATE, limiter, kind, msgs, size, 1


def quota(quota_type: int, limit: int, policy: int) -> Given:
    """A quota of the topic, from the beginning."""
    return 0, QUOTA, 0, quota_type, limit, policy


def replay_of(
    given: Sequence[Given], subs: Sequence[Sub] = (Sub(),), entries: Sequence[tuple[int, int]] = (), ledgers: Sequence[int] = ()
) -> Replay:
    """Before it runs. `entries`: (messages, bytes) of each, by default 1 and 100; `ledgers`: entries of each but the last one."""
    count = sum(1 for row in given if row[1] == PUBLISH)
    consumers = [(number, queue, sub) for number, sub in enumerate(subs) for queue in sub.queues]
    first = [sum(len(sub.queues) for sub in subs[:number]) for number in range(len(subs))]
    begin = [(0, SUBSCRIBE, number, 0) for number in range(len(subs))]
    arrive = [(0, ARRIVE, c) for c in range(len(consumers))]
    leave = [(ns, LEAVE, first[number] + c) for number, sub in enumerate(subs) for c, ns in sub.leaves.items()]
    rows = sorted([*begin, *given, *arrive, *leave], key=lambda row: row[0])
    replay = empty_replay()._replace(
        topics=empty_rows(TOPIC, 1), ledgers=empty_rows(LEDGER, len(ledgers) + 1), entries=empty_rows(ENTRY, count),
        subs=empty_rows(SUB, len(subs)), consumers=empty_rows(CONSUMER, len(consumers)),
        paces=empty_rows(PACE, sum(len(sub.pace) for sub in subs)), limiters=empty_rows(LIMITER_ROW, 2 + len(subs)),
        agenda=empty_rows(PLAN, 64 + 8 * len(rows)), given=empty_rows(GIVEN, len(rows)),
        acked=np.zeros(len(subs) * max(1, count), dtype=np.int8), replays=np.zeros(len(subs) * max(1, count), dtype=np.int64),
        in_hand=np.zeros(len(consumers) * max(1, count), dtype=np.int64),
        samples=np.zeros((sum(1 for row in given if row[1] == SAMPLE), len(subs), 2), dtype=np.int64),
    )  # fmt: skip
    clock = replay.clock[0]
    clock.read_ns = clock.wake_ns = clock.grant_ns = MS
    clock.retry_ns = SECOND + MS
    clock.max_read_entries, clock.max_read_bytes, clock.round_robin_entries = BATCH, 5_242_880, 20
    for row, values in zip(replay.given, rows, strict=True):
        for name, value in zip(GIVEN.names or (), values, strict=False):
            row[name] = value
    topic = replay.topics[0]
    topic.room, topic.limiter, topic.subs = max(1, count), TOPIC_LIMITER, len(subs)
    topic.size_limit = topic.time_limit_s = topic.held_from_ns = NONE
    ends = np.cumsum(ledgers) if len(ledgers) else np.zeros(0, dtype=np.int64)
    replay.ledgers["first"] = [0, *ends]
    replay.entries["ledger"] = np.searchsorted(ends, np.arange(count), side="right")
    replay.entries["msgs"], replay.entries["bytes"] = 1, 100
    for row, (msgs, size) in zip(replay.entries, entries, strict=False):
        row.msgs, row.bytes = msgs, size
    replay.entries["publish_ms"] = [row[0] // MS for row in rows if row[1] == PUBLISH]
    pace = 0
    for number, (row, sub) in enumerate(zip(replay.subs, subs, strict=True)):
        row.first_ack, row.durable, row.is_single = number * max(1, count), 1, int(sub.single)
        row.limiter = SUB_LIMITER + number
        row.first_consumer, row.consumers = first[number], len(sub.queues)
        row.first_pace = row.pace = pace
        row.paces = len(sub.pace)
        for from_ns, message_ns in sub.pace:
            replay.paces[pace].from_ns, replay.paces[pace].message_ns = from_ns, message_ns
            pace += 1
    for c, (number, queue, sub) in enumerate(consumers):
        row = replay.consumers[c]
        row.sub, row.receiver_queue, row.grant_at = number, queue, max(1, queue // 2)
        row.first_in_hand, row.room = c * max(1, count), max(1, count)
        row.ack_after_ns, row.speed_ppm = sub.ack_after_ns, PPM
    return replay


def played(
    given: Sequence[Given], subs: Sequence[Sub] = (Sub(),), entries: Sequence[tuple[int, int]] = (), ledgers: Sequence[int] = ()
) -> Replay:
    """After it has run to the end of what is given."""
    replay = replay_of(given, subs, entries, ledgers)
    run(replay)
    assert replay.clock[0].full == 0
    return replay


def backlogs(replay: Replay, sub: int = 0) -> list[int]:
    """The sampled backlogs of a subscription."""
    found: list[int] = replay.samples[:, sub, 0].tolist()
    return found
