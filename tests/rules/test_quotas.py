"""Quota checks and evictions of a replay (§2.3, §2.5, §2.6)."""

import pytest
from small_replay import MS, SECOND, Sub, backlogs, played, published, quota, replay_of, sampled

from pipeline.rules.broker.layout import NONE
from pipeline.rules.replay.kinds import CHECK, LEDGER_CLOSE
from pipeline.rules.replay.loop import run
from schemas.events import QUOTA_POLICIES, QUOTA_TYPES

SIZE, AGE = (QUOTA_TYPES.index(name) for name in ("destination_storage", "message_age"))
EVICTS, HOLDS = (QUOTA_POLICIES.index(name) for name in ("consumer_backlog_eviction", "producer_request_hold"))
#: Nobody takes anything.
ABSENT = Sub(queues=())
ENTRIES = published([k * 10 * MS for k in range(100)])
CHECKED = [(SECOND, CHECK, 0), *sampled(SECOND + MS)]


def test_a_size_eviction_goes_down_to_nine_tenths_of_the_limit() -> None:
    """100 entries of 100 bytes, a limit of 5,000: skip ⌊(10,000 − 4,500) · 100 / 10,000⌋ = 55."""
    replay = played([quota(SIZE, 5000, EVICTS), *ENTRIES, *CHECKED], [ABSENT])
    assert replay.subs[0].evicted == 55
    assert backlogs(replay) == [45]


def test_below_the_limit_nothing_goes() -> None:
    replay = played([quota(SIZE, 10_001, EVICTS), *ENTRIES, *CHECKED], [ABSENT])
    assert (replay.subs[0].evicted, replay.subs[0].evictions) == (0, 0)


def test_the_slowest_goes_first_and_the_next_then() -> None:
    """Both are as slow: each goes down once, the second by what is still too much."""
    replay = played([quota(SIZE, 5000, EVICTS), *ENTRIES, *CHECKED], [ABSENT, ABSENT])
    assert replay.subs["evicted"].tolist() == [55, 55]


def test_a_quota_that_shuts_producers_out_is_remembered_and_evicts_nothing() -> None:
    replay = played([quota(SIZE, 5000, HOLDS), *ENTRIES, *CHECKED], [ABSENT])
    assert replay.subs[0].evicted == 0
    assert replay.topics[0].held_from_ns == SECOND


def test_nobody_is_shut_out_without_need() -> None:
    assert played([*ENTRIES, *CHECKED], [ABSENT]).topics[0].held_from_ns == NONE


@pytest.mark.parametrize(("version", "evicted"), [(4_000_008, 0), (4_001_000, 100)])
def test_an_age_of_one_second_evicts_all_or_before_4_1_nothing(version: int, evicted: int) -> None:
    replay = replay_of([quota(AGE, 1, EVICTS), *ENTRIES, (5 * SECOND, CHECK, 0), *sampled(5 * SECOND + MS)], [ABSENT])
    replay.clock[0].precise_check, replay.clock[0].version = 1, version
    run(replay)
    assert replay.subs[0].evicted == evicted


def test_a_precise_age_eviction_goes_down_to_nine_tenths_of_the_limit() -> None:
    """At 11 s with a limit of 10 s: what was published before 2 s."""
    entries = published([k * 100 * MS for k in range(100)])
    replay = replay_of([quota(AGE, 10, EVICTS), *entries, (11 * SECOND, CHECK, 0), *sampled(11 * SECOND + MS)], [ABSENT])
    replay.clock[0].precise_check = 1
    run(replay)
    assert replay.subs[0].evicted == 20


def test_otherwise_only_ledgers_go_that_were_closed_long_ago() -> None:
    entries = published([k * 100 * MS for k in range(100)])
    closes = [(3 * SECOND, LEDGER_CLOSE, 0, 3000), (6 * SECOND, LEDGER_CLOSE, 1, 6000)]
    given = [quota(AGE, 10, EVICTS), *entries, *closes, (14 * SECOND, CHECK, 0), *sampled(14 * SECOND + MS)]
    replay = played(given, [ABSENT], ledgers=[30, 30])
    assert replay.subs[0].evicted == 30
