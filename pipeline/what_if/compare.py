"""Two lives side by side: how far apart their backlogs are, when a backlog is gone, and whether a replay of the record is the record."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.rules.array import Array

NS_PER_S = 1_000_000_000
#: Bounds of the check: of what shares a limiter in all, and of each part: which of two gets a token is chance.
WHOLE_BOUND, PART_BOUND = 0.10, 0.15
#: A backlog may differ by what is published in this time, whatever it is: a blocked read waits as long for the next one.
SLACK_S = 1.0
THROTTLED_BOUND, THROTTLED_SLACK = 0.20, 20
EVICTED_BOUND, EVICTED_SLACK = 0.05, 10
#: A backlog of so few entries is none, nor is this share of its highest.
FEW_ENTRIES, FEW_SHARE = 5, 0.002


def area_error(true: Array, other: Array) -> float:
    """Area between two backlogs by the area under the true one; 0 of two that are empty, 1 where only the true one is."""
    area = float(np.abs(true).sum())
    between = float(np.abs(true - other).sum())
    return between / area if area else float(between > 0)


def is_near(true: Array, other: Array, bound: float, entries_per_s: float) -> bool:
    """Whether two backlogs differ by less than `bound` of the area, or by less than what is published in a second."""
    return area_error(true, other) <= bound or float(np.abs(true - other).mean()) <= SLACK_S * entries_per_s


def drained_at(backlog: Array) -> int | None:
    """The first instant after its peak at which a backlog is gone; null: it is not, or there was none."""
    if not len(backlog) or backlog.max() <= FEW_ENTRIES:
        return None
    few = max(FEW_ENTRIES, int(FEW_SHARE * backlog.max()))
    peak = int(backlog.argmax())
    gone = np.flatnonzero(backlog[peak:] <= few)
    return peak + int(gone[0]) if len(gone) else None


@dataclass(frozen=True)
class SelfCheck:
    """The record against its replay with the settings as they were. `reasons`: what differs by more than its bound."""

    area_error: float
    throttled_error: float
    evicted_error: float
    reasons: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether the replay is the record, within the bounds."""
        return not self.reasons


def self_check(
    true: Array,
    other: Array,
    throttled: tuple[int, int],
    evicted: tuple[int, int],
    entries_per_s: float,
    alone: Sequence[int] | None = None,
) -> SelfCheck:
    """Of backlogs int64 [instants, subscriptions]; (recorded, replayed) counts of all of them. `entries_per_s`: what is published.

    `alone`: subscriptions that share no limiter that holds them (null: all); of the others only the sum must be near.
    """
    reasons = []
    if not is_near(true.sum(1), other.sum(1), WHOLE_BOUND, entries_per_s):
        reasons.append(f"its backlog differs by {area_error(true.sum(1), other.sum(1)):.0%} of what it was")
    elif any(not is_near(true[:, s], other[:, s], PART_BOUND, entries_per_s) for s in (range(true.shape[1]) if alone is None else alone)):
        reasons.append("the backlog of one of its subscriptions differs too much")
    if abs(throttled[0] - throttled[1]) > max(THROTTLED_SLACK, THROTTLED_BOUND * throttled[0]):
        reasons.append(f"limiters lower {throttled[1]:,} reads in place of {throttled[0]:,}")
    if abs(evicted[0] - evicted[1]) > max(EVICTED_SLACK, EVICTED_BOUND * evicted[0]):
        reasons.append(f"{evicted[1]:,} entries are evicted or expire in place of {evicted[0]:,}")
    return SelfCheck(area_error(true.sum(1), other.sum(1)), _error(*throttled), _error(*evicted), tuple(reasons))


def _error(true: int, other: int) -> float:
    return abs(true - other) / true if true else float(other > 0)
