"""Bytes in all write buffers of a broker: exact at a heartbeat, a lower bound at a writability event (the gauge PIP-434 promises)."""

from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]


@dataclass(frozen=True)
class Level:
    """So many bytes at `ts`, or at least so many; `known_from` is heartbeat, writability or marks."""

    size: int
    ts: int
    known_from: str

    @property
    def exact(self) -> bool:
        """A heartbeat has the sum over all channels."""
        return self.known_from == "heartbeat"


class MemoryWindow:
    """What the log says of the level in the open window."""

    def __init__(self) -> None:
        self.heartbeat: Level | None = None
        self.bound: Level | None = None
        self.greatest: Level | None = None

    def note(self, level: Level, proven_before: int = 0) -> None:
        """A level, and what was there at least just before it."""
        if level.exact:
            self.heartbeat = level
        else:
            self.bound = level
        for candidate in (Level(proven_before, level.ts, "writability"), level):
            if self.greatest is None or candidate.size > self.greatest.size or (candidate.size == self.greatest.size and candidate.exact):
                self.greatest = candidate

    def row(self, by_marks: Level | None, connections: dict[str, int]) -> list[Row]:
        """The last exact level, else the last bound, else what channels over their marks hold at least."""
        if by_marks is not None and self.greatest is None:
            self.greatest = by_marks
        level = self.heartbeat or self.bound or by_marks
        if level is None or self.greatest is None:
            return []
        known = {"exact": level.exact, "known_from": level.known_from, "known_at": level.ts}
        most = {"write_buf_memory_used_bytes_max": self.greatest.size, "max_exact": self.greatest.exact}
        return [{"write_buf_memory_used_bytes": level.size, **known, **most, **connections}]
