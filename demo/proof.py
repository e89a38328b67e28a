"""The figures of the tables beside the broker's own: a line where all are equal."""

from collections.abc import Sequence
from typing import NamedTuple


class Compared(NamedTuple):
    """Both sides in a table for people; how many figures there are and how many differ."""

    text: str
    different: int
    figures: int


def proof_line(kinds: Sequence[tuple[str, Compared]]) -> str:
    """How many figures of each kind, and whether all are equal. `kinds` has the plural of each with its comparison."""
    figures, different = (sum(getattr(one, name) for _, one in kinds) for name in ("figures", "different"))
    parts = ", ".join(f"{one.figures:,} {name}{f' ({one.different:,} DIFFERENT)' if one.different else ''}" for name, one in kinds)
    verdict = f"{different:,} of {figures:,} figures DIFFERENT from" if different else f"all {figures:,} figures equal to"
    return f"Proof: {verdict} the broker's own: {parts}"
