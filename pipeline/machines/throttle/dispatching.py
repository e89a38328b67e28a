"""What a read asks and what a delivery costs: the walk's outcome charged to counters, limiters and blocked time (§1.2, §1.3)."""

from typing import NamedTuple

from pipeline.machines import fields
from pipeline.machines.array import Array
from pipeline.machines.compiled import compiled
from pipeline.machines.integers import add, narrow_to_int32
from pipeline.machines.throttle.incarnations import charge_blocked_time
from pipeline.machines.throttle.layout import (
    BROKER,
    BYTES,
    D_BATCH_MODE,
    D_BLOCKED_AT_NS,
    D_BLOCKED_AT_TS,
    D_BLOCKED_LEVEL,
    D_DECISIVE,
    D_DISPATCHED_BYTES,
    D_DISPATCHED_ENTRIES,
    D_DISPATCHED_MSGS,
    D_DISPATCHES,
    D_GRANTED_BYTES,
    D_GRANTED_ENTRIES,
    D_LEFT_MISMATCHES,
    D_MODELLED,
    D_MODELLED_SINCE_OPEN,
    D_OVERSIZED,
    D_READ_BYTES,
    D_READ_ENTRIES,
    D_READS,
    D_READS_BINDING,
    D_READS_BLOCKED,
    D_READS_BLOCKED_BY,
    D_READS_MODELLED,
    D_READS_NOMINAL,
    D_READS_SHRUNK,
    D_THROTTLED,
    D_THROTTLED_SINCE_OPEN,
    D_UNCHARGED_MSGS,
    L_ASKS,
    L_ASKS_BINDING,
    L_ASKS_BLOCKED,
    L_ASKS_MODELLED,
    L_ASKS_SHRUNK,
    L_COMPARED,
    L_DIFFERENT,
    L_EXACT,
    L_EXISTS,
    L_LARGEST,
    L_OVER_DELIVERED,
    L_RATE,
    L_RELATIVE,
    L_USED,
    L_WITHIN,
    MSG,
    NONE,
    T_PUBLISHED_BYTES,
    T_PUBLISHED_ENTRIES,
    TOPIC,
)
from pipeline.machines.throttle.limiter import UNLIMITED, ask, clock_step_tolerance, consume, dimension_base, look
from pipeline.machines.throttle.positions import read_up_to
from pipeline.machines.throttle.state import Limiters, Scratch, State
from pipeline.machines.throttle.walk import LEVEL_COUNT, decisive_level, walk

#: Rows of the scratch arrays `answers` and `present`: the log's, and the model's.
OBSERVED, MODELLED = 0, 1


class Outcome(NamedTuple):
    """What one read came to, by the walk over the answers that count."""

    is_observed: bool  # the log's answers count; else the model's
    entries: int  # left to read; 0 or more also if blocked
    size: int
    blocked_level: int  # or NONE
    binds_entries: bool  # more was waiting than could be read
    binds_bytes: bool


@compiled
def limiter_of(by_level: Limiters, t: int, d: int, level: int) -> tuple[Array, int]:
    """(array, row) of the limiter of a level."""
    if level == BROKER:
        return by_level.broker, 0
    if level == TOPIC:
        return by_level.topics, t
    return by_level.dispatchers, d


@compiled
def evaluate_read(state: State, t: int, d: int, event: Array) -> None:
    """One evaluation of the read limits: both walks, counters, comparison, blocked time, binding or nominal."""
    dispatchers, scratch = state.dispatchers, state.scratch
    answers, present, lowered = scratch.answers, scratch.present, scratch.lowered
    by_level = Limiters(state.broker_limiter, state.topic_limiters, state.dispatcher_limiters)
    want_entries = event[fields.WANT_LEFT] >> fields.WANT_SHIFT
    want_bytes = event[fields.WANT_BYTES]
    is_observed = take_observed(answers, present, event)
    ask_model(by_level, t, d, scratch, event, is_observed)
    if is_observed:
        compare_answers(by_level, t, d, scratch)
    walk(answers[MODELLED], present[MODELLED], want_entries, want_bytes, lowered)
    add_throttled(dispatchers, d, lowered, D_MODELLED, D_MODELLED_SINCE_OPEN)
    truth = OBSERVED if is_observed else MODELLED
    entries, size, blocked_level = walk(answers[truth], present[truth], want_entries, want_bytes, lowered)
    add_throttled(dispatchers, d, lowered, D_THROTTLED, D_THROTTLED_SINCE_OPEN)
    waiting_entries = state.topics[t, T_PUBLISHED_ENTRIES] - dispatchers[d, D_READ_ENTRIES]
    waiting_bytes = state.topics[t, T_PUBLISHED_BYTES] - dispatchers[d, D_READ_BYTES]
    binds_entries = waiting_entries > (entries if blocked_level == NONE else 0)
    binds_bytes = waiting_bytes > (size if blocked_level == NONE else 0)
    outcome = Outcome(is_observed, entries, size, blocked_level, binds_entries, binds_bytes)
    note_asks(by_level, t, d, scratch, outcome)
    note_outcome(dispatchers, d, event, lowered, outcome)
    block_or_grant(dispatchers, d, event, outcome)


@compiled
def take_observed(answers: Array, present: Array, event: Array) -> bool:
    """The log's answers into `answers[OBSERVED]`; a level is present if either dimension is. Returns whether any level is."""
    any_present = False
    for level in range(LEVEL_COUNT):
        present[OBSERVED, level] = 0
        for dimension in range(2):
            column = fields.FIRST_ANSWER + 2 * level + dimension
            if fields.has(event, column):
                answers[OBSERVED, level, dimension] = event[column]
                present[OBSERVED, level] = 1
                any_present = True
            else:
                answers[OBSERVED, level, dimension] = UNLIMITED
    return any_present


@compiled
def ask_model(by_level: Limiters, t: int, d: int, scratch: Scratch, event: Array, is_observed: bool) -> None:
    """The model's answers into `answers[MODELLED]`.

    With observed answers exactly the levels the broker asked are asked, the others only looked at. Without, levels are asked one after
    the other until one would block the walk, as the broker does.
    """
    answers, present = scratch.answers, scratch.present
    now_ns = event[fields.ASKED_NS] if fields.has(event, fields.ASKED_NS) else event[fields.NS]
    wants_nothing = event[fields.WANT_LEFT] >> fields.WANT_SHIFT == 0 or event[fields.WANT_BYTES] == 0
    is_blocked = False
    for level in range(LEVEL_COUNT):
        limiters, r = limiter_of(by_level, t, d, level)
        present[MODELLED, level] = 1 if limiters[r, L_EXISTS] == 1 and not is_blocked else 0
        if present[MODELLED, level] == 0:
            continue
        is_asked = not is_observed or present[OBSERVED, level] == 1
        for dimension in range(2):
            base = dimension_base(dimension)
            if is_asked:
                answers[MODELLED, level, dimension] = ask(limiters, r, base, now_ns)
            else:
                answers[MODELLED, level, dimension] = look(limiters, r, base, now_ns)
        if not is_observed:
            is_blocked = wants_nothing or narrow_to_int32(answers[MODELLED, level, MSG]) == 0 or answers[MODELLED, level, BYTES] == 0


@compiled
def compare_answers(by_level: Limiters, t: int, d: int, scratch: Scratch) -> None:
    """Per level and dimension: is the broker's answer the model's? Unlimited, relative and unknown limiters are not compared."""
    answers, present = scratch.answers, scratch.present
    for level in range(LEVEL_COUNT):
        if present[OBSERVED, level] == 0 or present[MODELLED, level] == 0:
            continue
        limiters, r = limiter_of(by_level, t, d, level)
        for dimension in range(2):
            base = dimension_base(dimension)
            observed = answers[OBSERVED, level, dimension]
            if observed == UNLIMITED or limiters[r, base + L_RATE] <= 0 or limiters[r, L_RELATIVE] == 1:
                continue
            difference = abs(observed - answers[MODELLED, level, dimension])
            limiters[r, base + L_COMPARED] += 1
            limiters[r, base + L_LARGEST] = max(limiters[r, base + L_LARGEST], difference)
            if difference == 0:
                limiters[r, base + L_EXACT] += 1
            elif difference <= clock_step_tolerance(limiters, r, base):
                limiters[r, base + L_WITHIN] += 1
            else:
                limiters[r, base + L_DIFFERENT] += 1


@compiled
def add_throttled(dispatchers: Array, d: int, lowered: Array, window: int, since_open: int) -> None:
    """The six counters: each at most +1 per read."""
    for level in range(LEVEL_COUNT):
        for dimension in range(2):
            dispatchers[d, window + 3 * dimension + level] += lowered[level, dimension]
            dispatchers[d, since_open + 3 * dimension + level] += lowered[level, dimension]


@compiled
def note_asks(by_level: Limiters, t: int, d: int, scratch: Scratch, outcome: Outcome) -> None:
    """Per limiter and dimension: asked, shrunk to more than nothing, blocked, bound.

    Levels beyond the one that blocked were not asked.
    """
    took_part = scratch.present[OBSERVED if outcome.is_observed else MODELLED]
    for level in range(LEVEL_COUNT):
        if took_part[level] == 0 or (outcome.blocked_level != NONE and level > outcome.blocked_level):
            continue
        limiters, r = limiter_of(by_level, t, d, level)
        if limiters[r, L_EXISTS] == 0:
            continue
        for dimension in range(2):
            base = dimension_base(dimension)
            if limiters[r, base + L_RATE] <= 0:
                continue
            limiters[r, base + L_ASKS] += 1
            limiters[r, base + L_ASKS_MODELLED] += 0 if outcome.is_observed else 1
            if scratch.lowered[level, dimension] == 0:
                continue
            left = outcome.entries if dimension == MSG else outcome.size
            if level == outcome.blocked_level and left == 0:
                limiters[r, base + L_ASKS_BLOCKED] += 1
            else:
                limiters[r, base + L_ASKS_SHRUNK] += 1
            if outcome.binds_entries if dimension == MSG else outcome.binds_bytes:
                limiters[r, base + L_ASKS_BINDING] += 1


@compiled
def note_outcome(dispatchers: Array, d: int, event: Array, lowered: Array, outcome: Outcome) -> None:
    """Shrunk or blocked, by whom, who was decisive, and whether anybody needed the rest."""
    dispatchers[d, D_READS] += 1
    dispatchers[d, D_READS_MODELLED] += 0 if outcome.is_observed else 1
    if outcome.is_observed and left_differs(event, outcome):
        dispatchers[d, D_LEFT_MISMATCHES] += 1
    msg_level = decisive_level(lowered, MSG)
    bytes_level = decisive_level(lowered, BYTES)
    if msg_level != NONE:
        dispatchers[d, D_DECISIVE + msg_level] += 1
    if bytes_level != NONE:
        dispatchers[d, D_DECISIVE + 3 + bytes_level] += 1
    if outcome.blocked_level != NONE:
        dispatchers[d, D_READS_BLOCKED] += 1
        dispatchers[d, D_READS_BLOCKED_BY + outcome.blocked_level] += 1
    elif msg_level != NONE or bytes_level != NONE:
        dispatchers[d, D_READS_SHRUNK] += 1
    else:
        return
    if (msg_level != NONE and outcome.binds_entries) or (bytes_level != NONE and outcome.binds_bytes):
        dispatchers[d, D_READS_BINDING] += 1
    else:
        dispatchers[d, D_READS_NOMINAL] += 1


@compiled
def left_differs(event: Array, outcome: Outcome) -> bool:
    """Whether the logged `left_*` contradict the walk over the logged answers (never used for counting)."""
    is_blocked = outcome.blocked_level != NONE
    left = event[fields.WANT_LEFT] & fields.LEFT_MASK
    if left != 0 and left - fields.LEFT_OFFSET != (-1 if is_blocked else outcome.entries):
        return True
    return fields.has(event, fields.LEFT_BYTES) and event[fields.LEFT_BYTES] != (-1 if is_blocked else outcome.size)


@compiled
def block_or_grant(dispatchers: Array, d: int, event: Array, outcome: Outcome) -> None:
    """A blocked stretch ends with every read, and begins with one that is blocked; any other grants what may be delivered."""
    charge_blocked_time(dispatchers, d, event[fields.NS])
    dispatchers[d, D_BLOCKED_LEVEL] = outcome.blocked_level
    if outcome.blocked_level != NONE:
        dispatchers[d, D_BLOCKED_AT_NS] = event[fields.NS]
        dispatchers[d, D_BLOCKED_AT_TS] = event[fields.TS]
    else:
        dispatchers[d, D_GRANTED_ENTRIES] = outcome.entries
        dispatchers[d, D_GRANTED_BYTES] = outcome.size


@compiled
def charge(state: State, t: int, d: int, event: Array) -> None:
    """A delivery: counted, its read position moved, and charged alike to every limiter that exists (unless `charged=false`)."""
    by_level = Limiters(state.broker_limiter, state.topic_limiters, state.dispatcher_limiters)
    dispatchers = state.dispatchers
    entries = event[fields.ENTRIES]
    msgs = event[fields.MSGS]
    size = event[fields.SIZE]
    dispatchers[d, D_DISPATCHES] += 1
    dispatchers[d, D_DISPATCHED_ENTRIES] = add(dispatchers[d, D_DISPATCHED_ENTRIES], entries)
    dispatchers[d, D_DISPATCHED_MSGS] = add(dispatchers[d, D_DISPATCHED_MSGS], msgs)
    dispatchers[d, D_DISPATCHED_BYTES] = add(dispatchers[d, D_DISPATCHED_BYTES], size)
    granted_entries = dispatchers[d, D_GRANTED_ENTRIES]
    if granted_entries != NONE and (entries > granted_entries or size > dispatchers[d, D_GRANTED_BYTES]):
        dispatchers[d, D_OVERSIZED] += 1
    read_up_to(dispatchers, d, state.topics, t, add(dispatchers[d, D_READ_ENTRIES], entries), add(dispatchers[d, D_READ_BYTES], size))
    if fields.has(event, fields.CHARGED) and event[fields.CHARGED] == 0:
        dispatchers[d, D_UNCHARGED_MSGS] = add(dispatchers[d, D_UNCHARGED_MSGS], msgs)
        return
    permits = entries if dispatchers[d, D_BATCH_MODE] == 1 else msgs
    for level in range(LEVEL_COUNT):
        limiters, r = limiter_of(by_level, t, d, level)
        if limiters[r, L_EXISTS] == 0:
            continue
        for dimension in range(2):
            base = dimension_base(dimension)
            used = permits if dimension == MSG else size
            beyond = consume(limiters, r, base, used, event[fields.NS])
            limiters[r, base + L_OVER_DELIVERED] = add(limiters[r, base + L_OVER_DELIVERED], beyond)
            if limiters[r, base + L_RATE] > 0:
                limiters[r, base + L_USED] = add(limiters[r, base + L_USED], used)
