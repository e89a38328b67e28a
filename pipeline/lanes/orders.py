"""What control rows ask of a lane in one micro-batch, and how a state travels in them.

A backfill that reached now asks a lane to hold (docs/architecture.md, "Backfill"), then to go on from the state that it computed.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from pipeline.machines.array import Array
from schemas.events import DRAIN_CODE, HOLD_CODE, RELEASE_CODE, SEED_CODE
from schemas.lane_columns import COLUMN, SLOTS

EPOCH, SEQ, TS, NS, TYPE, FIRST_SLOT = (COLUMN[c] for c in ("epoch", "seq", "ts", "ns", "type_code", "s0"))
#: Bytes of a state in one control row, and of its length before the first.
PART_BYTES, LENGTH_BYTES = 8 * SLOTS, 8


@dataclass(frozen=True)
class Seed:
    """The state from which an epoch is to go on at `next_seq`; `state` is empty if parts of it are missing."""

    request: int
    epoch: int
    next_seq: int
    state: bytes


@dataclass
class Orders:
    """Control rows of one micro-batch but tombstones, whose order among them does not matter."""

    rows: list[Array] = field(default_factory=list)

    def add(self, rows: Array) -> None:
        """Take control rows: int64 [n, LANE_COLUMNS]."""
        self.rows.append(rows)

    @property
    def drain(self) -> bool:
        """Whether the log is over."""
        return bool(len(self._of(DRAIN_CODE)))

    @property
    def hold(self) -> int:
        """Newest request to hold, 0 if there is none. One that was given up in the same micro-batch asks for nothing."""
        asked = set(self._of(HOLD_CODE)[:, SEQ].tolist()) - self.released
        return max(asked, default=0)

    @property
    def released(self) -> set[int]:
        """Requests that their backfill gave up."""
        return set(self._of(RELEASE_CODE)[:, SEQ].tolist())

    def seeds(self) -> Iterator[Seed]:
        """Whole states, by request and epoch."""
        parts = self._of(SEED_CODE)
        for request, epoch in sorted({(int(row[SEQ]), int(row[EPOCH])) for row in parts}):
            own = parts[(parts[:, SEQ] == request) & (parts[:, EPOCH] == epoch)]
            yield Seed(request, epoch, int(own[0, TS]), _joined(own[np.argsort(own[:, NS])]))

    def _of(self, code: int) -> Array:
        rows = np.concatenate([np.empty((0, len(COLUMN)), dtype=np.int64), *self.rows])
        return rows[rows[:, TYPE] == code]


def parts_of(state: bytes) -> Iterable[bytes]:
    """A state in parts of PART_BYTES: its length, itself, zeros."""
    whole = len(state).to_bytes(LENGTH_BYTES, "big") + state
    for start in range(0, len(whole), PART_BYTES):
        yield whole[start : start + PART_BYTES].ljust(PART_BYTES, b"\0")


def _joined(parts: Array) -> bytes:
    """The state whose parts, in order, are the slots of these rows; empty unless they are all there."""
    whole = parts[:, FIRST_SLOT : FIRST_SLOT + SLOTS].astype(">i8").tobytes()
    end = LENGTH_BYTES + int.from_bytes(whole[:LENGTH_BYTES], "big")
    return whole[LENGTH_BYTES:end] if len(whole) - PART_BYTES < end <= len(whole) else b""
