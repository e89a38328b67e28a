"""Why a row cannot be known (schemas/completeness.py): the first reason that holds, NULL if none does."""

import numpy as np

from pipeline.rules.array import Array
from pipeline.rules.broker.layout import LOST
from pipeline.rules.compiled import compiled_part
from pipeline.rules.records import Record, Records
from schemas.completeness import INCOMPLETE_REASONS
from schemas.events.points import bits_of
from schemas.outcomes import NULL
from schemas.packages import NEEDS

POINTS_MISSING, BEGINNING_NOT_SEEN, EVENTS_LOST, DELETIONS_UNKNOWN = range(len(INCOMPLETE_REASONS))


def needed_by(table: str) -> int:
    """The event types that rows of a table need, as bits."""
    return bits_of(NEEDS[table])


@compiled_part
def incomplete_reason(topic: Record, settings: Record, needed: int) -> int:
    """Of what belongs to a topic: its load was not seen, something of the broker was lost since, or `needed` events cannot be seen."""
    if settings.missing_events & needed:
        return POINTS_MISSING
    if topic.began_complete == 0:
        return BEGINNING_NOT_SEEN
    return NULL if topic.losses_at_start == settings.losses else EVENTS_LOST


def incomplete_reasons(missing_events: int, needed: int, began_complete: Array, losses_before: Array) -> Array:
    """The same of many rows, `losses_before` being LOST where something was lost since they began."""
    if missing_events & needed:
        return np.full(len(began_complete), POINTS_MISSING, dtype=np.int64)
    reasons = np.where(losses_before == LOST, EVENTS_LOST, NULL)
    return np.where(began_complete == 0, BEGINNING_NOT_SEEN, reasons)


def note_losses(rows: Records, losses_before: str, losses: int) -> None:
    """Put LOST into the field `losses_before` of rows that began before the latest of `losses`."""
    rows[losses_before][rows[losses_before] != losses] = LOST
