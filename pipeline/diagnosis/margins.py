"""What blocked reads would have got without the limiter that blocked them, and which limiter binds then: rows in, words out. Pure but for
the question.
"""

from collections.abc import Sequence
from typing import Any

from pipeline.diagnosis.counts import entries

Row = dict[str, Any]
_PAIR = ("level", "dimension", "next_level", "next_dimension")
_SUMS = ("reads", "wanted_entries", "granted_entries")
UNITS = {"msg": "messages", "bytes": "bytes"}


def margins_query(where: str) -> str:
    """The sums of `limiter_margins` for each subscription over these rows, the pair of limiters with the most reads first."""
    sums = ", ".join(f"sum({name}) AS {name}" for name in _SUMS)
    grain = ", ".join(("broker", "epoch", "topic", "subscription", *_PAIR))
    return (
        f"SELECT {grain}, {sums} FROM limiter_margins WHERE {where} GROUP BY {grain}"
        f" ORDER BY reads DESC, {', '.join(f'{name} NULLS LAST' for name in _PAIR)}"
    )


def uncovered(rows: Sequence[Row]) -> list[Row]:
    """Keys `uncovers` of the document: per limiter that blocked, and limiter that binds without it."""
    return [{name: row[name] for name in (*_PAIR, *_SUMS)} for row in rows]


def margin_line(one: Row) -> str:
    """`without the topic's limiter of messages: 30 blocked reads would have got 90 of 3,000 entries; the broker's limiter of … is next`."""
    reads = f"{one['reads']:,} blocked read{'' if one['reads'] == 1 else 's'}"
    head = f"without {limiter_words(one['level'], one['dimension'])}: {reads} would have got"
    granted = f"{head} {one['granted_entries']:,} of the {entries(one['wanted_entries'])} that were asked for"
    if one["next_level"] is None:
        return f"{granted}; no other limiter is next"
    return f"{granted}; {limiter_words(one['next_level'], one['next_dimension'])} is next"


def limiter_words(level: str, dimension: str) -> str:
    """`the topic's limiter of messages`."""
    return f"the {level}'s limiter of {UNITS[dimension]}"
