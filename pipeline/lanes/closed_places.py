"""Places in an epoch whose events will not be applied any more: lost, quarantined, or beyond the end. What comes for them is late, once."""

from bisect import bisect_right

import numpy as np

from pipeline.rules.array import Array

LOST, QUARANTINED, EPOCH_OVER = range(3)
END_OF_SEQ = 2**63 - 1


class GivenUp:
    """Disjoint ranges [first, last] of seq in ascending order, each with its reason (LOST, QUARANTINED, EPOCH_OVER)."""

    def __init__(self, ranges: list[tuple[int, int, int]] | None = None) -> None:
        self._ranges = ranges or []

    def add(self, first: int, last: int, reason: int) -> None:
        """Give up [first, last], which lies beyond all ranges so far; neighbours of one reason become one range."""
        if self._ranges and self._ranges[-1][1] == first - 1 and self._ranges[-1][2] == reason:
            self._ranges[-1] = (self._ranges[-1][0], last, reason)
        else:
            self._ranges.append((first, last, reason))

    def take(self, seq: int) -> int | None:
        """The reason why `seq` was given up, and from now on it is not: the first late event has come. None if it was not given up."""
        position = bisect_right(self._ranges, seq, key=lambda r: r[0]) - 1
        if position < 0 or self._ranges[position][1] < seq:
            return None
        first, last, reason = self._ranges[position]
        around = [(first, seq - 1, reason), (seq + 1, last, reason)]
        self._ranges[position : position + 1] = [r for r in around if r[0] <= r[1]]
        return reason

    def array(self) -> Array:
        """The ranges as int64 [n, 3]."""
        return np.array(self._ranges, dtype=np.int64).reshape(-1, 3)

    @classmethod
    def from_array(cls, array: Array) -> "GivenUp":
        """What `array()` gave."""
        return cls([(int(first), int(last), int(reason)) for first, last, reason in array])
