"""A limiter holds a subscription, and its consumers would hold it without that: a higher limit alone is no advice."""

from collections.abc import Sequence
from typing import Any

import pytest
from charges import charge, evidence, judged, limit, minute, policy, served, standing

OWN: dict[str, Any] = {"level": "subscription", "dimension": "msg"}
NEED: dict[str, Any] = {
    **OWN, "publish_entries_per_s": 15.0, "permits_per_entry": 1.0, "waiting": 6_000, "held": 1, "keeps_up_per_s": 15.0,
    "current_per_s": 40.0, "others_per_s": 0.0, "counts_entries": True,
}  # fmt: skip
#: Full for 12 s of each minute.
FULL = [12] * 5


def five(
    held: list[int],
    full: list[int],
    delivered: int,
    pace: float | None,
    account: dict[str, Any] = OWN,
    delayed_s: int = 0,
    policies: Sequence[Any] = (),
    **more: Any,
) -> dict[str, Any]:
    """Five minutes under a limiter of 10 per second: by minute, the entries that do not wait at its end, for how long consumers are full,
    and for how long all that waits is held for a later delivery.
    """
    ends: list[dict[str, Any]] = [{"backlog_end": 6_000, "waiting_end": 6_000 - one} for one in held]
    rows = [charge(m, "throttled", 60 - full[m], **account, **ends[m]) for m in range(5)]
    rows += [charge(m, "no_permits", full[m], weight=full[m], main=False, **ends[m]) for m in range(5) if full[m]]
    rows += [charge(m, "delayed", delayed_s, weight=delayed_s, main=False, **ends[m]) for m in range(5) if delayed_s]
    status = standing("held back", backlog=6_000, waiting=5_000, pace_per_s=pace, cause="throttled", **account)
    throttle = [served(m, delivered, blocked_ns_by_subscription_limit=1, blocked_ns_by_topic_limit=1) for m in range(5)]
    limits = [limit(account["level"], account["dimension"], **more)]
    found = evidence(rows, 5, throttle=throttle, limits=limits, standing=[status], policies=list(policies))
    return judged(found, needed={**NEED, **account})


@pytest.mark.parametrize(
    ("held", "full", "delivered", "pace", "more"),
    [
        ([180, 360, 540, 720, 900], [0] * 5, 600, 7.0, {}),  # the queue of 1,000 fills first
        ([650, 510, 640, 500, 620], FULL, 420, 7.0, {}),  # and is full then
        ([10, 0, 10, 0, 10], [24] * 5, 420, 7.0, {}),  # a small queue
        ([650, 510, 640, 500, 620], FULL, 420, 7.0, {"account": {"level": "topic", "dimension": "msg"}}),
        ([650, 510, 640, 500, 620], FULL, 600, 7.0, {"relative": True}),
    ],
)
def test_consumers_that_are_slow_too_come_before_the_limit(
    held: list[int], full: list[int], delivered: int, pace: float, more: dict[str, Any]
) -> None:
    found = five(held, full, delivered, pace, **more)
    assert (found["cause"], found["consumers_take_per_s"], found["confidence"]) == ("throttled", 7.0, "medium")
    first, raised = (one["do"] for one in found["advice"][:2])
    assert first.startswith("A higher limit alone is not enough: its consumers acknowledge only 7.0 entries/s. Speed its consumers up, or")
    assert "it is current in 10 min, if its consumers take as much: they acknowledge 7.0 entries/s. " in raised


@pytest.mark.parametrize(
    ("held", "full", "delivered", "pace", "more"),
    [
        ([4, 9, 2, 7, 5], [0] * 5, 600, 10.0, {}),  # quick
        ([180, 360, 540, 720, 900], [0] * 5, 600, 9.2, {}),  # what they hold grows, and what is acknowledged is much the same
        ([290, 890, 580, 0, 580], [0] * 5, 600, 7.5, {}),  # all that came in 90 s is acknowledged at once
        ([540, 520, 540, 560, 580], [0] * 5, 600, 7.0, {}),  # by chance
        ([650, 510, 640, 500, 620], FULL, 545, 9.1, {}),  # the limit is used up
        ([4, 0, 4, 0, 0], FULL, 500, 8.3, {}),  # a queue of four is full for a moment of each period
        ([650, 510, 640, 500, 620], [5] * 5, 420, 7.0, {}),  # now and then
        ([650, 510, 640, 500, 620], FULL, 420, None, {}),
        ([20, 14, 19, 4, 20], FULL, 420, 7.0, {"account": {"level": "topic", "dimension": "msg"}}),
    ],
)
def test_who_takes_what_the_limiter_gives_is_not_slow(
    held: list[int], full: list[int], delivered: int, pace: float | None, more: dict[str, Any]
) -> None:
    found = five(held, full, delivered, pace, **more)
    assert (found["cause"], found["consumers_take_per_s"], found["confidence"]) == ("throttled", None, "high")
    assert found["advice"][0]["do"].startswith("Raise the ")
    assert "it is current in 10 min, if its consumers take as much. " in found["advice"][0]["do"]


def test_under_a_limit_that_is_gone_nobody_has_seen_how_quick_consumers_are() -> None:
    off = policy("subscription_dispatch_rate", "topic", since=minute(4.9), applied_msg_rate=0)
    found = five([180, 360, 540, 720, 900], [0] * 5, 600, 7.0, policies=[off])
    (only,) = (one["do"] for one in found["advice"])
    assert only == "The subscription limiter of messages held it back, and is gone by now. Look again later."


def test_entries_that_are_held_for_a_later_delivery_are_not_with_consumers() -> None:
    assert five([180, 360, 540, 720, 900], [0] * 5, 600, 7.0, delayed_s=1)["consumers_take_per_s"] is None


def test_permits_are_counted_in_the_unit_of_the_limiter() -> None:
    """Batches of 100 messages: 20 of them are more than two periods' permits. A row may have what was charged."""
    found = five([20] * 5, FULL, 4, 0.07, account={"level": "topic", "dimension": "bytes"})
    assert found["consumers_take_per_s"] == 0.07
    assert five([20] * 5, FULL, 4, 0.07, account={"level": "topic", "dimension": "bytes"}, rate=6_000)["consumers_take_per_s"] is None


def test_where_consumers_hold_it_at_the_end_their_step_is_told_once() -> None:
    rows = [charge(m, "throttled", 20, main=m < 4, backlog_end=6_000, waiting_end=5_000, **OWN) for m in range(5)]
    rows += [charge(m, "no_permits", 40, weight=20, main=m == 4, backlog_end=6_000, waiting_end=5_000) for m in range(5)]
    status = standing("slow consumers", backlog=6_000, waiting=5_000, pace_per_s=7.0, cause="no_permits", since=None)
    throttle = [served(m, 420) for m in range(5)]
    found = judged(evidence(rows, 5, throttle=throttle, limits=[limit("subscription")], standing=[status]), needed=NEED)
    assert (found["cause"], found["consumers_take_per_s"]) == ("throttled", 7.0)
    assert found["advice"][0]["do"].startswith("Consumers are too slow or too few")
    assert "A higher limit alone" not in " ".join(one["do"] for one in found["advice"])
    assert "if its consumers take as much" in found["advice"][1]["do"]
