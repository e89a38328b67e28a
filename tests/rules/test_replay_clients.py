"""Consumers in a replay: their pace, pauses, permits and acknowledgements."""

import pytest
from small_replay import MS, SECOND, Sub, backlogs, played, published, sampled

from pipeline.rules.replay.layout import NO_PERMITS

AT_ONCE = published([0] * 500)


def test_a_consumer_takes_one_message_after_the_other() -> None:
    replay = played([*AT_ONCE, *sampled(SECOND, 3 * SECOND)], [Sub(pace=((0, 10 * MS),))])
    assert backlogs(replay) == [pytest.approx(400, abs=2), pytest.approx(200, abs=2)]


def test_three_consumers_take_three_times_as_many() -> None:
    replay = played([*AT_ONCE, *sampled(SECOND)], [Sub(queues=(50, 50, 50), pace=((0, 10 * MS),))])
    assert backlogs(replay) == [pytest.approx(200, abs=5)]


def test_one_active_consumer_does_all() -> None:
    replay = played([*AT_ONCE, *sampled(SECOND)], [Sub(queues=(50, 50, 50), pace=((0, 10 * MS),), single=True)])
    assert backlogs(replay) == [pytest.approx(400, abs=3)]


def test_a_pause_is_a_pause_also_amid_a_message() -> None:
    pace = ((0, 10 * MS), (SECOND, -1), (3 * SECOND, 20 * MS))
    replay = played([*AT_ONCE, *sampled(SECOND, 3 * SECOND, 4 * SECOND)], [Sub(pace=pace)])
    first, still, after = backlogs(replay)
    assert first == pytest.approx(still, abs=1)
    assert still - after == pytest.approx(50, abs=1)


def test_a_batch_takes_as_long_as_its_messages() -> None:
    replay = played([*published([0] * 100), *sampled(SECOND)], [Sub(pace=((0, MS),))], entries=[(10, 1000)] * 100)
    assert backlogs(replay) == [pytest.approx(0, abs=2)]


def test_permits_end_with_the_receiver_queue_and_come_back_by_half() -> None:
    replay = played([*AT_ONCE, *sampled(SECOND)], [Sub(queues=(20,), pace=((0, -1),))])
    sub = replay.subs[0]
    assert sub.read == 20
    assert sub.cause == NO_PERMITS
    steady = played([*AT_ONCE, *sampled(SECOND)], [Sub(queues=(20,), pace=((0, 10 * MS),))])
    assert 100 <= steady.subs[0].read <= 100 + 20


def test_acknowledgements_are_gathered() -> None:
    replay = played([*published([0] * 10), *sampled(99 * MS, 103 * MS)], [Sub(ack_after_ns=100 * MS)])
    assert backlogs(replay) == [10, 0]
