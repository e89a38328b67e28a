"""Deliveries of entries that had been delivered: how many, and whether they are most of what is delivered.

Invariant: an acknowledgement does not change whether they are, as long as some entry is with consumers or was given back: it takes away two
deliveries, and the entry that these count for.
"""

from pipeline.rules.cause.layout import MOST_REPEATS_OF_ENTRY, REPEATS_OF_ENTRY
from pipeline.rules.compiled import compiled_part
from pipeline.rules.records import Record


@compiled_part
def note_delivered(charge: Record, cursor: Record, entries: int, ns: int) -> int:
    """So many entries went to consumers: those that were given back go first: a replay is read before others (§1.2 step 6).

    Returns how many of them had been delivered before.
    """
    repeated = min(entries, charge.again)
    if repeated > 0:
        forget_repeats(charge, cursor)
        charge.again -= repeated
        with_consumers = max(0, charge.delivered - (cursor.acknowledged - charge.acknowledged_seen)) + entries
        charge.repeats = min(charge.repeats + repeated, MOST_REPEATS_OF_ENTRY * (with_consumers + charge.again))
        charge.repeated_ns = ns
    return int(repeated)


@compiled_part
def forget_repeats(charge: Record, cursor: Record) -> None:
    """What was acknowledged since the last look makes up for deliveries."""
    charge.repeats = max(0, charge.repeats - REPEATS_OF_ENTRY * (cursor.acknowledged - charge.repeats_seen))
    charge.repeats_seen = cursor.acknowledged


@compiled_part
def is_redelivering(charge: Record) -> bool:
    """Whether more than two of three deliveries are of entries that had been delivered. What was acknowledged is forgotten before."""
    entries = charge.delivered + charge.again
    return bool(entries > 0 and charge.repeats > REPEATS_OF_ENTRY * entries)


@compiled_part
def forget_given_back(charge: Record) -> None:
    """Nothing is to be delivered again, and nothing lies aside."""
    charge.again, charge.repeats, charge.aside = 0, 0, 0


@compiled_part
def limit_to(charge: Record, waiting: int) -> None:
    """No more entries were given back, or lie aside, than wait."""
    charge.again = min(charge.again, waiting)
    charge.aside = min(charge.aside, waiting)
