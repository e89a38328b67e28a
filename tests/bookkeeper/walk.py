"""The walk of one read over the limiters (semantics §1.2 step 4)."""

from collections.abc import Callable
from dataclasses import dataclass, field

from bookkeeper.longs import LEVELS, narrowed

#: What a level answers: message permits, byte permits; −1 = unlimited in that dimension.
Answer = tuple[int, int]


@dataclass
class Walk:
    """What became of a read. `lowered` lists (level, dimension, new value) in order."""

    msgs: int
    bytes: int
    blocked_by: str | None = None
    lowered: list[tuple[str, str, int]] = field(default_factory=list)

    @property
    def left(self) -> tuple[int, int]:
        """As the log says it: −1/−1 if blocked."""
        return (-1, -1) if self.blocked_by else (self.msgs, self.bytes)

    def granted(self, dimension: str) -> int:
        """What was granted of a dimension; nothing if blocked."""
        if self.blocked_by:
            return 0
        return self.msgs if dimension == "msg" else self.bytes

    def reached(self, level: str) -> bool:
        """Whether the walk came as far as this level."""
        return self.blocked_by is None or LEVELS.index(level) <= LEVELS.index(self.blocked_by)

    def decisive(self, dimension: str) -> str | None:
        """The last level that lowered a dimension."""
        levels = [level for level, lowered, _ in self.lowered if lowered == dimension]
        return levels[-1] if levels else None

    def lowered_to(self, level: str, dimension: str) -> int | None:
        """What a level lowered a dimension to; None if it did not."""
        values = [value for at, lowered, value in self.lowered if (at, lowered) == (level, dimension)]
        return values[0] if values else None


def walk(want_msgs: int, want_bytes: int, answer_of: Callable[[str], Answer | None]) -> Walk:
    """Ask broker, topic, subscription in order until one leaves nothing; `answer_of` gives None where a level does not take part."""
    read = Walk(want_msgs, want_bytes)
    for level in LEVELS:
        answer = answer_of(level)
        if answer is None:
            continue
        msgs, size = narrowed(answer[0]), answer[1]
        if 0 <= msgs < read.msgs:
            read.msgs = msgs
            read.lowered.append((level, "msg", msgs))
        if 0 <= size < read.bytes:
            read.bytes = size
            read.lowered.append((level, "bytes", size))
        if read.msgs == 0 or read.bytes == 0:
            read.blocked_by = level
            return read
    return read
