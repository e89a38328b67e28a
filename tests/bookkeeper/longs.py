"""Whole numbers as the tables and Pulsar hold them: 64-bit that saturate, 32-bit that wrap where Pulsar's do."""

LONG_MAX = 2**63 - 1
#: The lower bound of sums: −2^63 itself is null in outcome rows.
LONG_MIN = -(2**63 - 1)

LEVELS = ("broker", "topic", "subscription")
DIMENSIONS = ("msg", "bytes")


def saturated(value: int) -> int:
    """`value`, or the nearest number that 64 bits can hold."""
    return max(LONG_MIN, min(LONG_MAX, value))


def narrowed(value: int) -> int:
    """`value` cast to a 32-bit int as Java does (two's complement): 2^31 becomes −2^31 (semantics §1.2 step 4)."""
    low = value & 0xFFFF_FFFF
    return low - 2**32 if low >= 2**31 else low
