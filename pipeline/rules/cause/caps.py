"""Caps of unacknowledged messages: which are on, and how many consumers have reached theirs (§1.2 step 7).

A dispatcher does not ask consumers that have reached their cap, whatever they granted: their permits let nothing go out.

Invariant: `consumers_capped` is never more than have reached their cap. Which consumer did is not followed. So one that leaves takes one
off.
"""

from pipeline.rules.cause.layout import CONSUMER_CAP, SUBSCRIPTION_CAP
from pipeline.rules.compiled import compiled_part
from pipeline.rules.records import Record

#: Of `is_capped`: there may be more consumers with a cap on than are counted.
_MAYBE_MORE = 1 << CONSUMER_CAP


@compiled_part
def may_be_more_than_counted(charge: Record) -> bool:
    """Whether more consumers may have reached their cap than are counted."""
    return bool(charge.is_capped & _MAYBE_MORE != 0)


@compiled_part
def may_have_capped_consumers(charge: Record) -> bool:
    """Whether some consumers may have reached their cap."""
    return charge.consumers_capped > 0 or may_be_more_than_counted(charge)


@compiled_part
def note_cap(charge: Record, reading: Record, cap: int, is_on: int) -> None:
    """A cap is on from now on, or is not any more. Of a single consumer the event tells all."""
    if cap != CONSUMER_CAP:
        charge.is_capped = charge.is_capped | (1 << cap) if is_on == 1 else charge.is_capped & ~(1 << cap)
    elif reading.consumers == 1:
        charge.consumers_capped, charge.is_capped = is_on, charge.is_capped & ~_MAYBE_MORE
    else:
        most = max(1, reading.consumers)  # that one consumer has reached its cap may be written twice
        charge.consumers_capped = min(most, max(0, charge.consumers_capped + (1 if is_on == 1 else -1)))


@compiled_part
def note_consumer_left(charge: Record, reading: Record) -> None:
    """A consumer has left: one with its cap on, or another one. Only where all had it on it is certain which."""
    if charge.consumers_capped > 0:
        if charge.consumers_capped <= reading.consumers:
            charge.is_capped |= _MAYBE_MORE
        charge.consumers_capped -= 1


@compiled_part
def note_read_of_one_consumer(charge: Record, reading: Record) -> None:
    """A dispatcher asks for entries only where some consumer has not reached its cap: of a single one this tells all."""
    if may_be_more_than_counted(charge) and reading.consumers == 1:
        charge.consumers_capped, charge.is_capped = 0, charge.is_capped & ~_MAYBE_MORE


@compiled_part
def note_caps_unseen(charge: Record) -> None:
    """Events were lost: consumers may have reached their cap unseen. A dispatcher that is asked what it holds does not say so."""
    charge.is_capped |= _MAYBE_MORE


@compiled_part
def note_stated_cap(charge: Record, is_on: bool) -> None:
    """The dispatcher is stopped by a cap, or not. It does not say whose cap it is: that of the subscription, unless the broker's is on."""
    if not is_on:
        charge.is_capped &= _MAYBE_MORE
    elif charge.is_capped & ~_MAYBE_MORE == 0:
        charge.is_capped |= 1 << SUBSCRIPTION_CAP
