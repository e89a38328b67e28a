"""What a read that a limiter blocked would have got without this one limiter, and which limiter binds then (docs/design/causes.md).

Levels that the broker had asked answer as the log has it. It asks none beyond the one that blocks: those answer as the model has them.
"""

from typing import NamedTuple

from pipeline.rules import fields
from pipeline.rules.array import Array
from pipeline.rules.broker.cursors import is_whole
from pipeline.rules.broker.layout import BYTES, DIMENSION_COUNT, LEVEL_COUNT, MSG, NONE
from pipeline.rules.broker.limiter import UNLIMITED, look
from pipeline.rules.cause.case import Case
from pipeline.rules.cause.layout import LIMITER_COUNT, THROTTLED
from pipeline.rules.compiled import compiled_part
from pipeline.rules.index import EMPTY, find, insert
from pipeline.rules.integers import add, narrow_to_int32
from pipeline.rules.records import Record, Records
from pipeline.rules.throttle.layout import MODELLED, OBSERVED
from pipeline.rules.throttle.reads import Limiters, Waiting, asked_ns, limiter_of
from pipeline.rules.throttle.walk import decisive_level, walk


@compiled_part
def blocking_limiter(answers: Array, level: int) -> int:
    """The limiter of the level that left nothing, as level · 2 + dimension: of its messages, if both ran out."""
    no_bytes = answers[level, BYTES] == 0
    no_messages = narrow_to_int32(answers[level, MSG]) == 0
    return DIMENSION_COUNT * level + (BYTES if no_bytes and not no_messages else MSG)


@compiled_part
def answers_that_count(working: Record) -> int:
    """OBSERVED where the log has an answer of any limiter, else MODELLED."""
    for level in range(LEVEL_COUNT):
        if working.present[OBSERVED, level] == 1:
            return OBSERVED
    return MODELLED


class MarginTable(NamedTuple):
    """The margins of all subscriptions, where each is found, and how many there are."""

    margins: Records
    margins_index: Array
    counts: Record


@compiled_part
def note_margin(table: MarginTable, case: Case, limiters: Limiters, working: Record, event: Array) -> None:
    """Count a read that a limiter blocked. `working` has its walk, and is of no use afterwards."""
    limiter, topic, reading = case.charge.account - THROTTLED, case.topic, case.reading
    waiting = Waiting(topic.end_entries - reading.entries, topic.end_bytes - reading.bytes)
    entries, size, following = _without(limiter, limiters, waiting, working, event)
    margin = table.margins[_row_of(table, case.subscription, limiter * (LIMITER_COUNT + 1) + following)]
    margin.topic_id = case.subscription.owner
    margin.reads += 1
    margin.wanted_entries = add(margin.wanted_entries, event[fields.WANT_LEFT] >> fields.WANT_SHIFT)
    margin.wanted_bytes = add(margin.wanted_bytes, event[fields.WANT_BYTES])
    margin.granted_entries = add(margin.granted_entries, entries)
    margin.granted_bytes = add(margin.granted_bytes, size)
    if is_whole(case.cursor, case.settings) == 0:
        margin.incomplete = 1


@compiled_part
def _without(limiter: int, limiters: Limiters, waiting: Waiting, working: Record, event: Array) -> tuple[int, int, int]:
    """(entries, bytes, limiter that binds; LIMITER_COUNT if none does) of the walk without `limiter`."""
    kind, level = answers_that_count(working), limiter // DIMENSION_COUNT
    answers, present, lowered = working.answers[kind], working.present[kind], working.lowered
    answers[level, limiter % DIMENSION_COUNT] = UNLIMITED
    for deeper in range(level + 1, LEVEL_COUNT):
        row = limiter_of(limiters, deeper)
        if kind == OBSERVED and present[deeper] == 1:
            continue
        present[deeper] = row.exists
        for dimension in range(DIMENSION_COUNT):
            answers[deeper, dimension] = look(row, dimension, asked_ns(event))
    entries, size, blocked = walk(answers, present, event[fields.WANT_LEFT] >> fields.WANT_SHIFT, event[fields.WANT_BYTES], lowered)
    if blocked != NONE:
        return 0, 0, blocking_limiter(answers, blocked)
    if waiting.entries > entries and decisive_level(lowered, MSG) != NONE:
        return entries, size, DIMENSION_COUNT * decisive_level(lowered, MSG) + MSG
    if waiting.size > size and decisive_level(lowered, BYTES) != NONE:
        return entries, size, DIMENSION_COUNT * decisive_level(lowered, BYTES) + BYTES
    return entries, size, LIMITER_COUNT


@compiled_part
def _row_of(table: MarginTable, subscription: Record, margin_id: int) -> int:
    """The row of a subscription's pair of limiters, made if it is not there."""
    margins, index, counts = table.margins, table.margins_index, table.counts
    row = find(index, margins, margin_id, subscription.id)
    if row == EMPTY:
        row = counts.margins
        counts.margins += 1
        margins[row].id, margins[row].owner = margin_id, subscription.id
        insert(index, margin_id, subscription.id, row)
    return int(row)
