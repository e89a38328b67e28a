"""Known differences are found by their reason: without the reason the same figures count as a difference."""

from typing import Any

from known_differences import (
    eviction_that_was_interrupted,
    eviction_while_a_ledger_goes,
    eviction_while_entries_arrive,
    look_before_the_check_ends,
    unknown_deletions,
)

S = 1_000_000
TOPIC = "persistent://a/b/t"
AGE = (TOPIC, 12 * S, "oldestBacklogMessageAgeSeconds", 5, [-1])


def moved(decided_at: int, resolved_at: int) -> tuple[str, dict[str, Any]]:
    row = {"disagreement": "other_target", "quota_type": "size", "topic": TOPIC, "decided_at": decided_at, "resolved_at": resolved_at}
    return "moved otherwise", row


def test_an_eviction_differs_only_if_something_arrived_meanwhile() -> None:
    is_one = eviction_while_entries_arrive([{"type": "publish", "topic": TOPIC, "ts": 10 * S + 5}])
    assert is_one(moved(10 * S, 10 * S + 9))
    assert not is_one(moved(11 * S, 11 * S + 9))
    assert not is_one(("acted, we", TOPIC))


def test_an_eviction_of_several_steps_differs_only_if_a_ledger_went_meanwhile() -> None:
    is_one = eviction_while_a_ledger_goes([{"type": "ledger_trim", "topic": TOPIC, "ts": 10 * S + 5}])
    kind, row = moved(10 * S, 10 * S + 9)
    assert is_one((kind, row | {"cursors_planned": 2}))
    assert not is_one((kind, row | {"cursors_planned": 1})), "its first step is planned from what it begins with"
    assert not is_one((kind, row | {"cursors_planned": 2, "quota_type": "time"}))
    assert not is_one((kind, row | {"cursors_planned": 2, "topic": "persistent://a/b/other"}))
    assert not is_one((kind, row | {"cursors_planned": 2, "decided_at": 10 * S + 6}))


def test_an_eviction_is_interrupted_only_by_an_unload() -> None:
    unload = {"type": "topic_unload", "topic": TOPIC, "ts": 12 * S}
    assert eviction_that_was_interrupted([unload])(moved(10 * S, 12 * S))
    assert not eviction_that_was_interrupted([unload])(moved(12 * S - 5, 12 * S)), "steps take milliseconds: nothing was blocked"
    assert not eviction_that_was_interrupted([{"type": "quota_check", "topic": TOPIC, "ts": 12 * S}])(moved(10 * S, 12 * S))


def test_a_look_is_earlier_only_if_its_check_ended_after_its_round() -> None:
    check = {"type": "quota_check", "topic": TOPIC, "ts": 11 * S, "duration_us": 2 * S}
    late = [{"type": "quota_round", "phase": "end", "ts": 10 * S}, check]
    in_time = [check, {"type": "quota_round", "phase": "end", "ts": 11 * S + 1}]
    assert look_before_the_check_ends(late)(AGE)
    assert not look_before_the_check_ends(in_time)(AGE)
    assert not look_before_the_check_ends(late)((TOPIC, 12 * S, "backlogSize", 5, [7]))


def test_a_backlog_is_vague_only_behind_a_snapshot_with_deletions() -> None:
    opened = {"type": "cursor_open", "topic": TOPIC, "sub": "s", "snapshot": True, "entries": 3}
    backlog = (TOPIC, 12 * S, "s.msgBacklog", 69, [100])
    assert unknown_deletions([opened])(backlog)
    kind, row = moved(10 * S, 10 * S + 9)
    not_known = kind, {**row, "incomplete_reason": "deletions_unknown"}
    assert unknown_deletions([opened])(not_known)
    assert not unknown_deletions([opened])((kind, {**row, "incomplete_reason": None})), "a complete row must agree"
    assert not unknown_deletions([opened | {"entries": 0}])(backlog)
    assert not unknown_deletions([opened | {"entries": 0}])(not_known)
    assert not unknown_deletions([opened])((TOPIC, 12 * S, "other.msgBacklog", 69, [100]))
