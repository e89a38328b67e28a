"""A lane on hold: what comes waits in front of it while a backfill computes the state from which the lane is to go on.

Law. What waited is taken as if it had come later, so nothing of a hold can be seen in the tables of the log.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from pipeline.machines.array import Array
from schemas.lane_columns import COLUMN, LANE_COLUMNS

EPOCH, SEQ, NS = COLUMN["epoch"], COLUMN["seq"], COLUMN["ns"]
#: ANSWERS of lane_answers.
HELD, SEEDED, RELEASED, LAPSED, REFUSED = range(5)
#: Rows that may wait, about 150 MB: a lane must not grow because a backfill died.
MOST_ROWS = 1_000_000


@dataclass
class Hold:
    """`request` 0: the lane is not on hold."""

    request: int = 0
    waiting: list[Array] = field(default_factory=list)

    def __bool__(self) -> bool:
        return self.request != 0

    def add(self, rows: Array) -> None:
        """Let rows wait: int64 [n, LANE_COLUMNS]."""
        self.waiting.append(rows)

    def rows(self) -> Array:
        """What waits."""
        return np.concatenate([np.empty((0, len(LANE_COLUMNS)), dtype=np.int64), *self.waiting])

    def is_too_long(self, most_ns: int, standing: Mapping[int, int]) -> bool:
        """Whether more waits than MOST_ROWS, or `most_ns` of any epoch, from its next seq on, which `standing` has.

        What is behind that may be as old as it likes: nobody waits for it.
        """
        rows = self.rows()
        for epoch in np.unique(rows[:, EPOCH]).tolist():
            ahead = rows[(rows[:, EPOCH] == epoch) & (rows[:, SEQ] >= standing.get(epoch, 1)), NS]
            if len(ahead) and np.ptp(ahead) >= most_ns:
                return True
        return len(rows) > MOST_ROWS

    def end(self) -> Array:
        """No hold any more; returns what waited."""
        rows, self.request, self.waiting = self.rows(), 0, []
        return rows
