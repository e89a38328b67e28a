"""Reads of a replay: limiters that lower and block them, their counters, their retries, and the broker's estimate of bytes (§1.2, §1.6)."""

from typing import Any

import pytest
from small_replay import MS, SECOND, SUB_LIMITER, TOPIC_LIMITER, Sub, backlogs, played, published, rate, replay_of, sampled

from pipeline.rules.broker.layout import BROKER, BYTES, MSG, SUBSCRIPTION, TOPIC
from pipeline.rules.compiled import compiled
from pipeline.rules.replay.kinds import CHARGE
from pipeline.rules.replay.reads import entries_of_size

BROKER_LIMITER = 0
AT_ONCE = published([0] * 500)


@pytest.mark.parametrize(
    ("limiter", "level"),
    [(BROKER_LIMITER, BROKER), (TOPIC_LIMITER, TOPIC), (SUB_LIMITER, SUBSCRIPTION)],
    ids=["broker", "topic", "subscription"],
)
def test_a_limit_of_messages_lets_as_many_through_a_second(limiter: int, level: int) -> None:
    replay = played([rate(limiter, msgs=50), *AT_ONCE, *sampled(500 * MS, 2500 * MS, 4500 * MS)])
    first, second, third = backlogs(replay)
    assert first == 450
    assert (first - second, second - third) == (pytest.approx(100, abs=1), pytest.approx(100, abs=1))
    sub = replay.subs[0]
    assert sub.throttled[level, MSG] > 0
    assert sub.throttled.sum() == sub.throttled[level, MSG]
    assert sub.held_ns[2 * level + MSG] > 4 * SECOND


def test_a_limit_of_bytes_is_charged_to_bytes() -> None:
    replay = played([rate(TOPIC_LIMITER, size=5000), *AT_ONCE, *sampled(500 * MS, 4500 * MS)])
    sub = replay.subs[0]
    assert sub.throttled[TOPIC, BYTES] > 0
    assert sub.throttled[TOPIC, MSG] == 0
    first, last = backlogs(replay)
    assert first - last == pytest.approx(200, abs=50)  # a read takes one entry too many or two, and pays for it later


def test_behind_a_level_that_blocks_nobody_is_asked() -> None:
    replay = played([rate(TOPIC_LIMITER, msgs=50), rate(SUB_LIMITER, msgs=50), *AT_ONCE, *sampled(4500 * MS)])
    throttled = replay.subs[0].throttled
    assert throttled[TOPIC, MSG] > 0
    assert throttled[SUBSCRIPTION, MSG] == 0  # an equal limit lowers nothing any more (A25)


def test_a_bucket_behind_a_level_that_blocks_is_not_refilled() -> None:
    """The topic's limiter owes for a hundred seconds; to ask the subscription's would refill it."""
    given = [rate(TOPIC_LIMITER, msgs=10), rate(SUB_LIMITER, msgs=50), (0, CHARGE, TOPIC_LIMITER, 1000, 0), *AT_ONCE, *sampled(5 * SECOND)]
    replay = played(given)
    assert replay.subs[0].throttled[TOPIC, MSG] >= 4
    assert replay.limiters[SUB_LIMITER].last_ns[MSG] == 0


def test_two_subscriptions_share_the_limit_of_their_topic() -> None:
    replay = played([rate(TOPIC_LIMITER, msgs=50), *AT_ONCE, *sampled(500 * MS, 4500 * MS)], [Sub(), Sub()])
    gone = sum(a - b for a, b in (backlogs(replay, 0), backlogs(replay, 1)))
    assert gone == pytest.approx(200, abs=50)


def test_a_read_that_waits_is_not_asked_for_again() -> None:
    """Exclusive: no further evaluation while a read is out (§1.2)."""
    given = [rate(TOPIC_LIMITER, msgs=50), *published([SECOND]), *sampled(2 * SECOND)]
    replay = played(given, [Sub(single=True)])
    assert replay.subs[0].throttled[TOPIC, MSG] == 2  # before the publish, and after the delivery


@compiled
def estimate(replay: Any, size: int) -> int:
    return entries_of_size(replay, replay.subs[0], size)


def test_bytes_become_entries_by_the_mean_of_each_ledger() -> None:
    """Ledgers of 10 entries of 100 bytes and of 10 of 1,000: 164 and 1,064 with what the broker adds."""
    sizes = [(1, 100)] * 10 + [(1, 1000)] * 10
    replay = replay_of([*published([0] * 20), *sampled(MS)], [Sub(queues=())], entries=sizes, ledgers=[10])
    replay.topics[0].published = 20
    replay.ledgers["entries"], replay.ledgers["bytes"] = 10, [1000, 10_000]
    assert [estimate(replay, size) for size in (1, 164, 500, 1640, 1640 + 1064, 1640 + 5 * 1064)] == [1, 1, 3, 10, 11, 15]
    assert estimate(replay, 10**9) == 21
