"""The order of a replay, and what is given to it."""

from small_replay import MS, SECOND, TOPIC_LIMITER, Sub, backlogs, played, published, rate, sampled

from pipeline.rules.broker.layout import MSG
from pipeline.rules.replay.kinds import ACKED, ARRIVE, CHARGE, MARKED, SUBSCRIBE

ABSENT = Sub(queues=())


def test_a_waiting_read_gets_the_next_publish() -> None:
    replay = played([*published([SECOND]), *sampled(SECOND, SECOND + 10 * MS)])
    assert backlogs(replay) == [1, 0]


def test_the_given_comes_before_the_planned_of_one_instant() -> None:
    """The delivery and the acknowledgement of 1.001 s come after the sample of that instant."""
    replay = played([*published([SECOND]), *sampled(SECOND + MS, SECOND + MS + 1)])
    assert backlogs(replay) == [1, 0]


def test_a_subscription_begins_where_it_is_opened_and_only_once() -> None:
    replay = played([*published([MS] * 10), (SECOND, SUBSCRIBE, 0, 7), *sampled(2 * SECOND)], [ABSENT])
    assert backlogs(replay) == [10]  # the builder opened it at 0


def test_the_oldest_entry_is_sampled_by_its_publish_time() -> None:
    replay = played([*published([MS, 5 * MS, 9 * MS]), (SECOND, ACKED, 0, 0), *sampled(500 * MS, 2 * SECOND)], [ABSENT])
    assert replay.samples[:, 0, 1].tolist() == [1, 5]


def test_a_recorded_mark_evicts_unless_it_was_acknowledged() -> None:
    for acknowledged, evicted in ((0, 6), (1, 0)):
        replay = played([*published([MS] * 10), (SECOND, MARKED, 0, 6, acknowledged), *sampled(2 * SECOND)], [ABSENT])
        assert backlogs(replay) == [4]
        assert replay.subs[0].evicted == evicted


def test_deliveries_of_others_are_charged() -> None:
    replay = played([rate(TOPIC_LIMITER, msgs=100), (MS, CHARGE, TOPIC_LIMITER, 30, 3000), *sampled(2 * MS)], [ABSENT])
    limiter = replay.limiters[TOPIC_LIMITER]
    assert limiter.tokens[MSG] - limiter.pending[MSG] == 70


def test_a_rate_that_is_lifted_holds_nobody() -> None:
    given = [rate(TOPIC_LIMITER, msgs=10), rate(TOPIC_LIMITER, at_ns=SECOND), *published([MS] * 500), *sampled(999 * MS, 4 * SECOND)]
    assert backlogs(played(given)) == [490, 0]


def test_a_consumer_that_is_there_does_not_come_twice() -> None:
    replay = played([(SECOND, ARRIVE, 0), *published([2 * SECOND]), *sampled(3 * SECOND)])
    assert replay.subs[0].present == 1
    assert backlogs(replay) == [0]
