"""Deliveries of a replay: turns of consumers, entries that come again, charges (§1.3)."""

from small_replay import MS, SECOND, TOPIC_LIMITER, Sub, backlogs, played, published, rate, replay_of, sampled

from pipeline.rules.broker.layout import MSG
from pipeline.rules.replay.loop import run

HANGS = ((0, -1),)


def in_hand(subs: list[Sub], entries: int) -> list[int]:
    replay = played([*published([10 * MS] * entries), *sampled(SECOND)], subs)
    return (replay.consumers["got"] - replay.consumers["acked"]).tolist()


def test_consumers_get_twenty_entries_in_turn() -> None:
    assert in_hand([Sub(queues=(1000, 1000, 1000), pace=HANGS)], 101) == [40, 40, 21]


def test_who_has_no_permits_is_passed_over() -> None:
    assert in_hand([Sub(queues=(5, 1000), pace=HANGS)], 60) == [5, 55]


def test_one_active_consumer_gets_all() -> None:
    assert in_hand([Sub(queues=(1000, 1000), pace=HANGS, single=True)], 60) == [60, 0]


def test_entries_of_a_consumer_that_leaves_go_to_the_others() -> None:
    """The first hangs for ever, as both do until 2 s; then the second takes what both had."""
    pace = ((0, -1), (2 * SECOND, MS))
    replay = played([*published([10 * MS] * 60), *sampled(SECOND, 3 * SECOND)], [Sub(queues=(1000, 1000), pace=pace, leaves={0: SECOND})])
    assert replay.consumers["got"].tolist() == [40, 60]
    assert replay.subs[0].replay_used == 0


def test_after_the_last_consumer_the_cursor_goes_back_to_its_mark() -> None:
    replay = played([*published([10 * MS] * 60), *sampled(3 * SECOND)], [Sub(pace=HANGS, leaves={0: SECOND})])
    sub = replay.subs[0]
    assert (sub.read, sub.mark, sub.unacked_msgs) == (0, 0, 0)
    assert backlogs(replay) == [60]


def test_a_delivery_is_charged_by_messages_or_in_batch_mode_by_entries() -> None:
    for batch_mode, left in ((0, 1000 - 50), (1, 1000 - 10)):
        replay = replay_of([rate(TOPIC_LIMITER, msgs=1000), *published([10 * MS] * 10), *sampled(100 * MS)], entries=[(5, 500)] * 10)
        replay.clock[0].batch_mode = batch_mode
        run(replay)
        limiter = replay.limiters[TOPIC_LIMITER]
        assert limiter.tokens[MSG] - limiter.pending[MSG] == left
