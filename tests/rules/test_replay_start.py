"""A replay that begins at an instant: who is there, what he has, what was charged before, and when a blocked read comes again."""

from small_replay import MS, SECOND, TOPIC_LIMITER, Sub, backlogs, published, rate, replay_of, sampled

from pipeline.rules.broker.layout import MSG
from pipeline.rules.broker.limiter import balance
from pipeline.rules.replay.kinds import ACKED, ARRIVE, CHARGE, HELD, ON, SUBSCRIBE, THERE
from pipeline.rules.replay.layout import Replay
from pipeline.rules.replay.loop import run

BEGIN = 10 * SECOND
PACE = 100 * MS


def begun(given: list[tuple[int, ...]], queue: int = 4, mark: int = 0) -> Replay:
    """One subscription that begins at BEGIN, its consumer of `queue` with it; run."""
    replay = replay_of([*given, *sampled(*(BEGIN + k * SECOND for k in range(4)))], [Sub((queue,), ((0, PACE),))])
    is_arrival, is_begin = replay.given["kind"] == ARRIVE, replay.given["kind"] == SUBSCRIBE
    replay.given["kind"][is_arrival] = THERE
    replay.given["a"][is_begin] = mark
    replay.given["at_ns"][is_arrival | is_begin] = BEGIN
    # In the order in which a start is given: the subscription, what is acknowledged, who is there, what he has.
    order = {SUBSCRIBE: 1, ACKED: 2, THERE: 3, HELD: 4, ON: 5}
    rows = sorted(replay.given.copy(), key=lambda row: (row["at_ns"], order.get(int(row["kind"]), 0 if row["at_ns"] < BEGIN else 6)))
    for place, row in enumerate(rows):
        replay.given[place] = row
    run(replay)
    return replay


def test_what_a_consumer_has_is_processed_at_once_and_not_delivered_again() -> None:
    before = published([SECOND] * 6)
    replay = begun([*before, (BEGIN, ACKED, 0, 1), (BEGIN, HELD, 0, 0), (BEGIN, HELD, 0, 2), (BEGIN, ON, 0, 0)])
    # Entry 1 was acknowledged. Entries 0 and 2 are in hand: two of four permits are left. All five take 500 ms.
    assert backlogs(replay) == [5, 0, 0, 0]
    assert int(replay.consumers[0].got) == 5
    assert int(replay.subs[0].read) == 6


def test_an_entry_that_is_held_and_acknowledged_is_not_in_hand() -> None:
    replay = begun([*published([SECOND] * 2), (BEGIN, ACKED, 0, 1), (BEGIN, HELD, 0, 1), (BEGIN, ON, 0, 20 * SECOND)])
    assert (int(replay.consumers[0].got), int(replay.subs[0].read), int(replay.consumers[0].permits)) == (0, 2, 4)


def test_a_blocked_read_comes_again_when_it_would_have() -> None:
    replay = begun([*published([SECOND] * 3), (BEGIN, ON, 0, BEGIN + 1500 * MS)])
    assert backlogs(replay) == [3, 3, 0, 0]
    assert int(replay.consumers[0].got) == 3


def test_deliveries_before_the_beginning_are_charged_and_a_bucket_refills_when_they_ask() -> None:
    charges = [(4 * SECOND + k * 600 * MS, CHARGE, TOPIC_LIMITER, 8, 800) for k in range(3)]
    replay = begun([rate(TOPIC_LIMITER, msgs=10, at_ns=3 * SECOND + 500 * MS), *charges, (BEGIN, ON, 0, 20 * SECOND)])
    # 10 − 8; then 1.1 s after the beginning a refill by 11 to at most 10, less 8 more; 600 ms later none: −6.
    assert balance(replay.limiters[TOPIC_LIMITER], MSG) == -6
