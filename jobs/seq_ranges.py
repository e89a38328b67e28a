"""Which `seq` of one epoch were seen, as ranges: memory grows with the holes, not with the events."""

from typing import Any

import numpy as np
import numpy.typing as npt

_GAPS_SHOWN = 10


class SeqRanges:
    """Disjoint closed ranges, ascending, never touching."""

    def __init__(self) -> None:
        self._starts = np.empty(0, dtype=np.int64)
        self._ends = np.empty(0, dtype=np.int64)
        self.duplicates = 0

    def add(self, seqs: npt.NDArray[np.int64]) -> None:
        """Notes `seqs` (any order); those seen before, or repeated among them, count as duplicates."""
        if not len(seqs):
            return
        fresh = np.unique(seqs)
        self.duplicates += len(seqs) - len(fresh)
        if len(self._starts):
            place = np.searchsorted(self._starts, fresh, side="right") - 1
            seen = (place >= 0) & (fresh <= self._ends[np.maximum(place, 0)])
            self.duplicates += int(seen.sum())
            fresh = fresh[~seen]
            if not len(fresh):
                return
        breaks = np.flatnonzero(np.diff(fresh) > 1)
        starts = np.concatenate([self._starts, fresh[:1], fresh[breaks + 1]])
        ends = np.concatenate([self._ends, fresh[breaks], fresh[-1:]])
        order = np.argsort(starts)
        starts, ends = starts[order], ends[order]
        apart = np.flatnonzero(starts[1:] > ends[:-1] + 1)
        self._starts = np.concatenate([starts[:1], starts[apart + 1]])
        self._ends = np.concatenate([ends[apart], ends[-1:]])

    def gaps(self) -> list[tuple[int, int]]:
        """Closed ranges that are missing between the first and the last seq seen."""
        return [(int(end) + 1, int(start) - 1) for end, start in zip(self._ends[:-1], self._starts[1:], strict=True)]

    def missing(self) -> int:
        """How many seq are missing between the first and the last seen (a log may be one file of many, so not before the first)."""
        return sum(end - start + 1 for start, end in self.gaps())

    def facts(self) -> dict[str, Any]:
        """`first`, `last`, `missing`, `duplicates`, and the first `gaps`."""
        return {
            "first": int(self._starts[0]),
            "last": int(self._ends[-1]),
            "missing": self.missing(),
            "duplicates": self.duplicates,
            "gaps": self.gaps()[:_GAPS_SHOWN],
        }
