"""Whether a check at this moment would evict: asked without a trace, of the topic's own row."""

from typing import Any

import pytest
from one_topic import Cursor, Ledger, Mark, with_one_topic

from pipeline.rules.backlog import decisions
from pipeline.rules.backlog.layout import EVICTION, KNOWN
from pipeline.rules.compiled import compiled
from pipeline.rules.records import Record
from pipeline.rules.state import BrokerState

#: Two closed ledgers of five entries and an open one, an entry each second; a subscription that has acknowledged nothing.
LEDGERS = [Ledger(1, 5, close_ms=5_000), Ledger(2, 5, close_ms=10_000), Ledger(3, 4)]
MARKS = [Mark(1 + number // 5, number % 5, 1_000 * number) for number in range(14)]


@compiled
def would_evict(broker: Any, backlog: Any, counts: Record, row: int, ledger: int, entry: int, now_us: int) -> bool:
    # A constant as an argument would be a type of its own: all that the rule calls would be compiled for it.
    return decisions.would_evict(broker, backlog, counts, row, row, ledger, entry, now_us)


def with_time_quota(limit_s: int) -> BrokerState:
    """No entry may wait for longer than this, by the time at which it was published."""
    quotas = {"alive": 1, "size_policy": EVICTION, "size_limit": -1, "time_policy": EVICTION, "time_limit": limit_s}
    return with_one_topic(LEDGERS, [Cursor((1, -1))], MARKS, {"precise_check": 1}, **quotas)


def asked(state: BrokerState, now_s: int) -> bool:
    """Of a move to the fourth entry of the first ledger."""
    return would_evict(state.group("broker"), state.group("backlog"), state.counts, 0, 1, 3, now_s * 1_000_000)


@pytest.mark.parametrize(("limit_s", "evicts"), [(10, True), (19, False)])
def test_asking_leaves_the_row_of_the_topic_as_it_was(limit_s: int, evicts: bool) -> None:
    state = with_time_quota(limit_s)
    check = state.group("backlog").topic_checks[0]
    before = check.tobytes()
    assert asked(state, now_s=19) == evicts
    assert check.tobytes() == before, "a question moved what the broker has cached"


def test_what_was_asked_of_another_topic_is_no_answer() -> None:
    """The cached position is that of the slowest cursor: a check keeps its time, whatever the row of the question had before."""
    state = with_time_quota(limit_s=10)
    check, trial = state.group("backlog").topic_checks[0], state.group("backlog").trial[0]
    for row, oldest_ms in ((check, 15_000), (trial, 0)):
        row.oldest, row.oldest_ledger, row.oldest_entry, row.oldest_ms = KNOWN, 1, -1, oldest_ms
    assert not asked(state, now_s=19)
    check.oldest_ms = 0
    assert asked(state, now_s=19)
