"""One read: the walk over the limiters' answers, the six counters, who blocked, who was decisive, who was bound (PIP-406, §1.2).

Invariants: the logged answers decide where there are any; the model always walks beside them and never feeds back into them.
`answers` is an int64 array [3 levels, 2 dimensions]; `present` is 1 for levels that take part.
"""

from pipeline.rules.array import Array
from pipeline.rules.broker.layout import BYTES, LEVEL_COUNT, MSG, NONE
from pipeline.rules.compiled import compiled
from pipeline.rules.integers import narrow_to_int32


@compiled
def walk(answers: Array, present: Array, want_entries: int, want_bytes: int, lowered: Array) -> tuple[int, int, int]:
    """Walk broker → topic → subscription over `answers`; returns (entries left, bytes left, level that blocked or NONE).

    `lowered` [3, 2] receives 1 where a level lowered a dimension (that is its counter's increment), else 0. A blocked walk stops: deeper
    levels are neither evaluated nor counted, but the level that blocks still evaluates both dimensions (A26, A27). `<` is strict: equal
    limits are charged to the outer level (A25). −1 is unlimited; message permits are narrowed to 32 bits first.
    """
    entries = want_entries
    size = want_bytes
    lowered[:] = 0
    for level in range(LEVEL_COUNT):
        if present[level] == 0:
            continue
        permits = narrow_to_int32(answers[level, MSG])
        if 0 <= permits < entries:
            entries = permits
            lowered[level, MSG] = 1
        if 0 <= answers[level, BYTES] < size:
            size = answers[level, BYTES]
            lowered[level, BYTES] = 1
        if entries == 0 or size == 0:
            return entries, size, level
    return entries, size, NONE


@compiled
def decisive_level(lowered: Array, dimension: int) -> int:
    """The last level that lowered the dimension: the limiter to raise first. NONE if no level did."""
    for level in range(LEVEL_COUNT - 1, -1, -1):
        if lowered[level, dimension] == 1:
            return level
    return NONE
