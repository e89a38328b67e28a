"""Caps of unacknowledged messages in a replay: set at the cap, cleared at half of it (§1.2)."""

import pytest
from small_replay import MS, SECOND, Sub, played, published, replay_of, sampled

from pipeline.rules.replay.layout import UNACKED_CAP
from pipeline.rules.replay.loop import run

CAP = 40
#: Takes messages, and acknowledges none of them before the end.
HANGS = Sub(pace=((0, -1),))


@pytest.mark.parametrize("cap", ["consumer_cap", "subscription_cap"])
def test_nothing_is_delivered_beyond_a_cap(cap: str) -> None:
    replay = replay_of([*published(range(0, 200 * MS, MS)), *sampled(SECOND)], [HANGS])
    replay.clock[0][cap] = CAP
    run(replay)
    sub = replay.subs[0]
    assert CAP <= sub.unacked_msgs < CAP + 10  # a delivery that was on its way goes out whole
    assert sub.cause == UNACKED_CAP
    assert sub.held_ns[UNACKED_CAP] > 0.7 * SECOND


def test_without_a_cap_all_is_delivered() -> None:
    replay = played([*published(range(0, 200 * MS, MS)), *sampled(SECOND)], [HANGS])
    assert replay.subs[0].unacked_msgs == 200


@pytest.mark.parametrize("cap", ["consumer_cap", "subscription_cap"])
def test_a_cap_is_cleared_at_half_of_it(cap: str) -> None:
    late = Sub(pace=((0, -1), (SECOND, MS)))
    replay = replay_of([*published(range(0, 200 * MS, MS)), *sampled(999 * MS, 2 * SECOND)], [late])
    replay.clock[0][cap] = CAP
    run(replay)
    assert replay.samples[:, 0, 0].tolist() == [200, 0]


@pytest.mark.parametrize("cap", ["consumer_cap", "subscription_cap"])
def test_above_half_of_it_nothing_more_is_delivered(cap: str) -> None:
    """From 1 s on a message takes 10 ms: after 100 ms ten of forty are acknowledged."""

    def delivered(until_ns: int) -> int:
        late = Sub(pace=((0, -1), (SECOND, 10 * MS)))
        replay = replay_of([*published(range(0, 200 * MS, MS)), *sampled(until_ns)], [late])
        replay.clock[0][cap] = CAP
        run(replay)
        return int(replay.subs[0].read)

    assert delivered(1100 * MS) == delivered(999 * MS) < delivered(1400 * MS)


def test_exclusive_has_none() -> None:
    replay = replay_of([*published(range(0, 200 * MS, MS)), *sampled(SECOND)], [Sub(pace=((0, -1),), single=True)])
    replay.clock[0].consumer_cap = CAP
    run(replay)
    assert replay.subs[0].unacked_msgs == 200
