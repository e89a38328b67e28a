"""A prediction beside the truth: errors by the bounds that docs/guide/what-if.md states."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.trust.backlogs import Named
from bench.what_if_pairs.truth import Lived

Counts = npt.NDArray[np.int64]
#: Area between two backlogs by the area under the true one: of one subscription, of all that share a limiter, of each of those.
ALONE, SHARED, PART = 0.10, 0.05, 0.15
DRAINED, THROTTLED, EVICTED = 0.10, 0.15, 0.05
#: Below these a share says nothing: seconds of what is published, seconds of a drain, reads, entries.
SLACK_S, SLACK_DRAINED_S, SLACK_READS, SLACK_ENTRIES = 1.0, 2, 10, 10
FEW_ENTRIES, FEW_SHARE = 5, 0.002
#: A backlog that was never higher is the noise of reads: when it was gone says nothing.
LEAST_PEAK = 300


@dataclass(frozen=True)
class Verdict:
    """Errors as shares; None: nothing to compare. A backlog that is on the average below the slack, and told so, has no `area`.

    `faults`: bounds that do not hold. `inside`: instants that lie within low and high.
    """

    area: float | None
    drained: float | None
    throttled: float | None
    evicted: float | None
    inside: float
    faults: tuple[str, ...]

    @property
    def is_in_band(self) -> bool:
        """Whether the truth is within the band at nine of ten instants."""
        return self.inside >= 0.9


def verdict_of(document: Mapping[str, Any], truth: Lived) -> Verdict:
    """Of an answer, whose instants are whole seconds."""
    parts = [_Part.of(one, truth) for one in document["subscriptions"]]
    true, told = (np.sum([getattr(part, side) for part in parts], axis=0) for side in ("true", "told"))
    slack = SLACK_S * truth.published / max(1, len(parts[0].true))
    whole = _area(true, told)
    faults = []
    if not _is_near(true, told, SHARED if len(parts) > 1 else ALONE, slack):
        faults.append(f"backlog {whole:.0%}")
    if len(parts) > 1:
        faults += [f"{part.name} {_area(part.true, part.told):.0%}" for part in parts if not _is_near(part.true, part.told, PART, slack)]
    drained = _drained(parts, faults)
    throttled = sum(part.throttled for part in parts), sum(truth.throttled[part.named] for part in parts)
    evicted = sum(part.evicted for part in parts), sum(truth.evicted[part.named] for part in parts)
    for name, (told_count, true_count), bound, least in (
        ("throttled", throttled, THROTTLED, SLACK_READS), ("evicted", evicted, EVICTED, SLACK_ENTRIES),
    ):  # fmt: skip
        if abs(told_count - true_count) > max(least, bound * true_count):
            faults.append(f"{name} {told_count} of {true_count}")
    inside = float(np.mean(np.concatenate([part.is_inside for part in parts])))
    is_noise = max(float(true.mean()), float(told.mean())) <= slack
    return Verdict(None if is_noise else whole, drained, _share(throttled), _share(evicted), inside, tuple(faults))


@dataclass(frozen=True)
class _Part:
    named: Named
    true: Counts
    told: Counts
    is_inside: npt.NDArray[np.bool_]
    throttled: int
    evicted: int

    @property
    def name(self) -> str:
        return f"{self.named[0].rpartition('/')[2]}#{self.named[1]}"

    @staticmethod
    def of(one: Mapping[str, Any], truth: Lived) -> "_Part":
        named, predicted = (one["topic"], one["subscription"]), one["predicted"]
        samples, true_at = predicted["samples"], truth.backlog[one["topic"], one["subscription"]]
        seconds = [round(sample["at"].timestamp()) for sample in samples]
        kept = [k for k, second in enumerate(seconds) if second in true_at]
        true = np.array([true_at[seconds[k]] for k in kept])
        told, low, high = (np.array([samples[k][key] for k in kept]) for key in ("backlog", "low", "high"))
        throttled = sum(count for levels in predicted["throttled"].values() for count in levels.values())
        return _Part(named, true, told, (low <= true) & (true <= high), throttled, predicted["evicted_entries"])


def _area(true: Counts, told: Counts) -> float:
    area, between = float(true.sum()), float(np.abs(true - told).sum())
    return between / area if area else float(between > 0)


def _is_near(true: Counts, told: Counts, bound: float, slack: float) -> bool:
    return _area(true, told) <= bound or float(np.abs(true - told).mean()) <= slack


def _drained(parts: list[_Part], faults: list[str]) -> float | None:
    """The worst error of the time from the beginning until a backlog is gone; a fault for each that is too far off."""
    errors = []
    for part in parts:
        true, told = _gone(part.true), _gone(part.told)
        if true is None and told is None:
            continue
        if true is None or told is None:
            # A backlog that is gone at one of the last instants, and one that is nearly so, are the same.
            left = (part.told if told is None else part.true)[-1]
            if left > SLACK_S * max(1.0, float(np.abs(np.diff(part.true)).mean())) + FEW_ENTRIES + FEW_SHARE * part.true.max():
                faults.append(f"{part.name} drained {told} of {true} s")
            continue
        errors.append(abs(told - true) / true)
        if abs(told - true) > max(SLACK_DRAINED_S, DRAINED * true):
            faults.append(f"{part.name} drained {told} of {true} s")
    return max(errors) if errors else None


def _gone(backlog: Counts) -> int | None:
    """The first instant, from 1, after the peak at which next to nothing is left; None: there was no backlog, or it stays."""
    if not len(backlog) or backlog.max() < LEAST_PEAK:
        return None
    peak = int(backlog.argmax())
    gone = np.flatnonzero(backlog[peak:] <= max(FEW_ENTRIES, FEW_SHARE * backlog.max()))
    return peak + int(gone[0]) + 1 if len(gone) else None


def _share(counts: tuple[int, int]) -> float | None:
    told, true = counts
    return abs(told - true) / true if true else None
