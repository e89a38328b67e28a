"""What a read asks: the walk's outcome charged to counters, limiters and blocked time (§1.2, §1.3).

The three limiters that a read may ask are handed over as one tuple, and so is what was asked of them.
"""

from typing import NamedTuple

from pipeline.rules import fields
from pipeline.rules.array import Array
from pipeline.rules.broker.layout import BROKER, BYTES, DIMENSION_COUNT, LEVEL_COUNT, MSG, NONE, TOPIC
from pipeline.rules.broker.limiter import UNLIMITED, ask, balance, charged_after, clock_step_tolerance, look, set_balance
from pipeline.rules.compiled import compiled_part, inlined_part
from pipeline.rules.integers import narrow_to_int32
from pipeline.rules.records import Record
from pipeline.rules.throttle.blocked import charge_blocked_time
from pipeline.rules.throttle.layout import MODELLED, OBSERVED
from pipeline.rules.throttle.walk import decisive_level, walk

#: The log has the books of the limiters beside their answers.
TOKENS_LOGGED = fields.question("read", "tokens_logged")


class Outcome(NamedTuple):
    """What one read came to, by the walk over the answers that count."""

    is_observed: bool  # the log's answers count; else the model's
    entries: int  # left to read; 0 or more also if blocked
    size: int
    blocked_level: int  # or NONE
    binds_entries: bool  # more was waiting than could be read
    binds_bytes: bool


class Waiting(NamedTuple):
    """What waits beyond the read position."""

    entries: int
    size: int


class Limiters(NamedTuple):
    """The limiters that a dispatcher asks."""

    broker_limiter: Record
    topic_limiter: Record
    subscription_limiter: Record


class LimiterUses(NamedTuple):
    """What was asked of them in the open window."""

    broker_limiter_use: Record
    topic_limiter_use: Record
    subscription_limiter_use: Record


@compiled_part
def limiter_of(limiters: Limiters, level: int) -> Record:
    """The limiter of a level."""
    if level == BROKER:
        return limiters.broker_limiter
    return limiters.topic_limiter if level == TOPIC else limiters.subscription_limiter


@compiled_part
def use_of(uses: LimiterUses, level: int) -> Record:
    """What was asked of the limiter of a level."""
    if level == BROKER:
        return uses.broker_limiter_use
    return uses.topic_limiter_use if level == TOPIC else uses.subscription_limiter_use


@inlined_part
def evaluate_read(throttling: Record, waiting: Waiting, limiters: Limiters, uses: LimiterUses, working: Record, event: Array) -> None:
    """One evaluation of the read limits: both walks, counters, comparison, blocked time, binding or nominal."""
    answers, present, lowered = working.answers, working.present, working.lowered
    want_entries = event[fields.WANT_LEFT] >> fields.WANT_SHIFT
    want_bytes = event[fields.WANT_BYTES]
    is_observed = take_observed(answers[OBSERVED], present[OBSERVED], event)
    ask_model(limiters, answers[MODELLED], present, event, is_observed)
    if is_observed:
        compare_answers(limiters, uses, answers, present)
        if fields.has(event, TOKENS_LOGGED):
            put_books_right(limiters, present[OBSERVED], event)
    walk(answers[MODELLED], present[MODELLED], want_entries, want_bytes, lowered)
    for level in range(LEVEL_COUNT):
        for dimension in range(DIMENSION_COUNT):
            throttling.modelled[dimension, level] += lowered[level, dimension]
            throttling.modelled_since_open[dimension, level] += lowered[level, dimension]
    truth = OBSERVED if is_observed else MODELLED
    entries, size, blocked_level = walk(answers[truth], present[truth], want_entries, want_bytes, lowered)
    for level in range(LEVEL_COUNT):
        for dimension in range(DIMENSION_COUNT):
            throttling.throttled[dimension, level] += lowered[level, dimension]
            throttling.throttled_since_open[dimension, level] += lowered[level, dimension]
    binds_entries = waiting.entries > (entries if blocked_level == NONE else 0)
    binds_bytes = waiting.size > (size if blocked_level == NONE else 0)
    outcome = Outcome(is_observed, entries, size, blocked_level, binds_entries, binds_bytes)
    note_asks(limiters, uses, present[truth], lowered, outcome)
    note_outcome(throttling, event, lowered, outcome)
    block_or_grant(throttling, event, outcome)


@compiled_part
def take_observed(answers: Array, present: Array, event: Array) -> bool:
    """The log's answers into `answers` [level, dimension]; a level is present if either dimension is. Returns whether any level is."""
    any_present = False
    for level in range(LEVEL_COUNT):
        present[level] = 0
        for dimension in range(DIMENSION_COUNT):
            column = fields.FIRST_ANSWER + DIMENSION_COUNT * level + dimension
            if fields.has(event, column):
                answers[level, dimension] = event[column] if event[column] > fields.DEBT else 0
                present[level] = 1
                any_present = True
            else:
                answers[level, dimension] = UNLIMITED
    return any_present


@compiled_part
def asked_ns(event: Array) -> int:
    """When the first limiter was asked."""
    return event[fields.ASKED_NS] if fields.has(event, fields.ASKED_NS) else event[fields.NS]


@compiled_part
def ask_model(limiters: Limiters, answers: Array, present: Array, event: Array, is_observed: bool) -> None:
    """The model's answers into `answers` [level, dimension].

    With observed answers exactly the levels the broker asked are asked, the others only looked at. Without, levels are asked one after
    the other until one would block the walk, as the broker does.
    """
    now_ns = asked_ns(event)
    wants_nothing = event[fields.WANT_LEFT] >> fields.WANT_SHIFT == 0 or event[fields.WANT_BYTES] == 0
    is_blocked = False
    for level in range(LEVEL_COUNT):
        limiter = limiter_of(limiters, level)
        present[MODELLED, level] = 1 if limiter.exists == 1 and not is_blocked else 0
        if present[MODELLED, level] == 0:
            continue
        is_asked = not is_observed or present[OBSERVED, level] == 1
        for dimension in range(DIMENSION_COUNT):
            if is_asked:
                answers[level, dimension] = ask(limiter, dimension, now_ns)
                if fields.has(event, TOKENS_LOGGED) and limiter.rate[dimension] > 0:
                    answers[level, dimension] = max(0, balance(limiter, dimension) + charged_after(limiter, dimension, now_ns))
            else:
                answers[level, dimension] = look(limiter, dimension, now_ns)
        if not is_observed:
            is_blocked = wants_nothing or narrow_to_int32(answers[level, MSG]) == 0 or answers[level, BYTES] == 0


@compiled_part
def compare_answers(limiters: Limiters, uses: LimiterUses, answers: Array, present: Array) -> None:
    """Per level and dimension: is the broker's answer the model's? Unlimited and unknown limiters are not compared, nor relative ones
    whose publish average is not in the log.
    """
    for level in range(LEVEL_COUNT):
        if present[OBSERVED, level] == 0 or present[MODELLED, level] == 0:
            continue
        limiter, use = limiter_of(limiters, level), use_of(uses, level)
        for dimension in range(DIMENSION_COUNT):
            observed = answers[OBSERVED, level, dimension]
            if observed == UNLIMITED or limiter.rate[dimension] <= 0 or limiter.relative > limiter.follows:
                continue
            difference = abs(observed - answers[MODELLED, level, dimension])
            use.compared[dimension] += 1
            use.largest_difference[dimension] = max(use.largest_difference[dimension], difference)
            if difference == 0:
                use.exact[dimension] += 1
            elif difference <= clock_step_tolerance(limiter, dimension):
                use.within_clock_step[dimension] += 1
            else:
                use.different[dimension] += 1


@compiled_part
def put_books_right(limiters: Limiters, asked: Array, event: Array) -> None:
    """The log has what was in the books of each limiter after it answered: the model goes on from there. Two threads that share a limiter
    may be served in another order than their events have, and charge it meanwhile: without this the model would never be right again.
    """
    for level in range(LEVEL_COUNT):
        limiter = limiter_of(limiters, level)
        if asked[level] == 0 or limiter.exists == 0:
            continue
        for dimension in range(DIMENSION_COUNT):
            column = fields.FIRST_ANSWER + DIMENSION_COUNT * level + dimension
            logged = event[column]
            if fields.has(event, column) and limiter.rate[dimension] > 0 and (logged > 0 or logged <= fields.DEBT):
                set_balance(limiter, dimension, logged if logged > 0 else logged - fields.DEBT, asked_ns(event))


@compiled_part
def note_asks(limiters: Limiters, uses: LimiterUses, took_part: Array, lowered: Array, outcome: Outcome) -> None:
    """Per limiter and dimension: asked, shrunk to more than nothing, blocked, bound.

    Levels beyond the one that blocked were not asked.
    """
    for level in range(LEVEL_COUNT):
        if took_part[level] == 0 or (outcome.blocked_level != NONE and level > outcome.blocked_level):
            continue
        limiter, use = limiter_of(limiters, level), use_of(uses, level)
        if limiter.exists == 0:
            continue
        for dimension in range(DIMENSION_COUNT):
            if limiter.rate[dimension] <= 0:
                continue
            use.asks[dimension] += 1
            use.asks_modelled[dimension] += 0 if outcome.is_observed else 1
            if lowered[level, dimension] == 0:
                continue
            left = outcome.entries if dimension == MSG else outcome.size
            if level == outcome.blocked_level and left == 0:
                use.asks_blocked[dimension] += 1
            else:
                use.asks_shrunk[dimension] += 1
            if outcome.binds_entries if dimension == MSG else outcome.binds_bytes:
                use.asks_binding[dimension] += 1


@compiled_part
def note_outcome(throttling: Record, event: Array, lowered: Array, outcome: Outcome) -> None:
    """Shrunk or blocked, by whom, who was decisive, and whether anybody needed the rest."""
    throttling.reads += 1
    throttling.reads_modelled += 0 if outcome.is_observed else 1
    if outcome.is_observed and left_differs(event, outcome):
        throttling.left_mismatches += 1
    msg_level = decisive_level(lowered, MSG)
    bytes_level = decisive_level(lowered, BYTES)
    if msg_level != NONE:
        throttling.decisive[MSG, msg_level] += 1
    if bytes_level != NONE:
        throttling.decisive[BYTES, bytes_level] += 1
    if outcome.blocked_level != NONE:
        throttling.reads_blocked += 1
        throttling.reads_blocked_by[outcome.blocked_level] += 1
    elif msg_level != NONE or bytes_level != NONE:
        throttling.reads_shrunk += 1
    else:
        return
    if (msg_level != NONE and outcome.binds_entries) or (bytes_level != NONE and outcome.binds_bytes):
        throttling.reads_binding += 1
    else:
        throttling.reads_nominal += 1


@compiled_part
def left_differs(event: Array, outcome: Outcome) -> bool:
    """Whether the logged `left_*` contradict the walk over the logged answers (never used for counting)."""
    is_blocked = outcome.blocked_level != NONE
    left = event[fields.WANT_LEFT] & fields.LEFT_MASK
    if left != 0 and left - fields.LEFT_OFFSET != (-1 if is_blocked else outcome.entries):
        return True
    return fields.has(event, fields.LEFT_BYTES) and event[fields.LEFT_BYTES] != (-1 if is_blocked else outcome.size)


@compiled_part
def block_or_grant(throttling: Record, event: Array, outcome: Outcome) -> None:
    """A blocked stretch ends with every read, and begins with one that is blocked; any other grants what may be delivered."""
    charge_blocked_time(throttling, event[fields.NS])
    throttling.blocked_level = outcome.blocked_level
    if outcome.blocked_level != NONE:
        throttling.blocked_at_ns = event[fields.NS]
        throttling.blocked_at_ts = event[fields.TS]
    else:
        throttling.granted_entries = outcome.entries
        throttling.granted_bytes = outcome.size
