"""Which `seq` of one epoch were seen, as ranges: memory grows with the gaps, not with the events."""

from typing import Any

import numpy as np
import numpy.typing as npt

Seqs = npt.NDArray[np.int64]
_GAPS_SHOWN = 10


class Ranges:
    """Disjoint closed ranges, ascending, never touching."""

    def __init__(self) -> None:
        self._starts = np.empty(0, dtype=np.int64)
        self._ends = np.empty(0, dtype=np.int64)

    def __len__(self) -> int:
        return int((self._ends - self._starts + 1).sum())

    @property
    def first(self) -> int:
        """The smallest; there must be one."""
        return int(self._starts[0])

    @property
    def last(self) -> int:
        """The greatest; there must be one."""
        return int(self._ends[-1])

    def have(self, seqs: Seqs) -> npt.NDArray[np.bool_]:
        """Which of `seqs` are in a range."""
        if not len(self._starts):
            return np.zeros(len(seqs), dtype=np.bool_)
        place = np.searchsorted(self._starts, seqs, side="right") - 1
        found: npt.NDArray[np.bool_] = (place >= 0) & (seqs <= self._ends[np.maximum(place, 0)])
        return found

    def number(self, seqs: Seqs) -> Seqs:
        """How many come before each of `seqs`, all of which are in a range."""
        lengths = self._ends - self._starts + 1
        place = np.searchsorted(self._starts, seqs, side="right") - 1
        before: Seqs = (np.cumsum(lengths) - lengths)[place] + seqs - self._starts[place]
        return before

    def add(self, fresh: Seqs) -> None:
        """Take in `fresh`: ascending, each once, none in a range yet."""
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
        """Closed ranges between the first and the last that are in no range."""
        return [(int(end) + 1, int(start) - 1) for end, start in zip(self._ends[:-1], self._starts[1:], strict=True)]


class SeqRanges:
    """What was seen of an epoch; `repeated` are those that came more than once, `duplicates` how often any came again."""

    def __init__(self) -> None:
        self.seen = Ranges()
        self.repeated = Ranges()
        self.duplicates = 0

    def add(self, seqs: Seqs) -> None:
        """Notes `seqs` (any order); those seen before, or repeated among them, count as duplicates."""
        if not len(seqs):
            return
        fresh, times = np.unique(seqs, return_counts=True)
        seen = self.seen.have(fresh)
        self.duplicates += len(seqs) - len(fresh) + int(seen.sum())
        again = fresh[seen | (times > 1)]
        self.repeated.add(again[~self.repeated.have(again)])
        self.seen.add(fresh[~seen])

    def gaps(self) -> list[tuple[int, int]]:
        """Closed ranges that are missing between the first and the last seq seen."""
        return self.seen.gaps()

    def missing(self) -> int:
        """How many seq are missing between the first and the last seen (a log may be one file of many, so not before the first)."""
        return sum(end - start + 1 for start, end in self.gaps())

    def facts(self) -> dict[str, Any]:
        """`first`, `last`, `missing`, `duplicates`, and the first `gaps`."""
        return {
            "first": self.seen.first,
            "last": self.seen.last,
            "missing": self.missing(),
            "duplicates": self.duplicates,
            "gaps": self.gaps()[:_GAPS_SHOWN],
        }
