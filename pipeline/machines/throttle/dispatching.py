"""What a read asks and what a delivery costs: the walk's outcome charged to counters, limiters and blocked time (§1.2, §1.3)."""

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
from pipeline.machines.throttle.walk import LEVEL_COUNT, decisive_level, walk
from schemas.lane_columns import COLUMN, SLOT_FIELDS

TS, NS, MASK, S0 = (COLUMN[c] for c in ("ts", "ns", "mask", "s0"))
_READ = SLOT_FIELDS["read"]
WANT_BYTES, LEFT_BYTES, FIRST_ANSWER, ASKED_NS = (_READ.index(n) for n in ("want_bytes", "left_bytes", "broker_msgs", "asked_ns"))
_ENTRIES, _MSGS, _BYTES, _CHARGED = range(4)
LOW_32 = 2**32 - 1
#: Rows of the scratch arrays `answers` and `present`: the log's, the model's, and the walk's own.
OBSERVED, MODELLED = 0, 1


@compiled
def limiter_of(level, broker_limiter, topic_limiters, t, dispatcher_limiters, d):  # type: ignore[no-untyped-def]
    """(array, row) of the limiter of a level."""
    if level == BROKER:
        return broker_limiter, 0
    if level == TOPIC:
        return topic_limiters, t
    return dispatcher_limiters, d


@compiled
def take_observed(event, answers, present):  # type: ignore[no-untyped-def]
    """The log's answers into `answers[OBSERVED]`; a level is present if either dimension is. Returns whether any level is."""
    any_present = 0
    for level in range(LEVEL_COUNT):
        present[OBSERVED, level] = 0
        for dimension in range(2):
            slot = FIRST_ANSWER + 2 * level + dimension
            if (event[MASK] >> slot) & 1:
                answers[OBSERVED, level, dimension] = event[S0 + slot]
                present[OBSERVED, level] = 1
                any_present = 1
            else:
                answers[OBSERVED, level, dimension] = UNLIMITED
    return any_present == 1


@compiled
def ask_model(
    event, observed, now_ns, broker_limiter, topic_limiters, t, dispatcher_limiters, d, answers, present, want_entries, want_bytes
):  # type: ignore[no-untyped-def]
    """The model's answers into `answers[MODELLED]`.

    With observed answers exactly the levels the broker asked are asked, the others only looked at. Without, levels are asked one after
    the other until one would block the walk, as the broker does.
    """
    blocked = False
    for level in range(LEVEL_COUNT):
        limiters, r = limiter_of(level, broker_limiter, topic_limiters, t, dispatcher_limiters, d)
        present[MODELLED, level] = 1 if limiters[r, L_EXISTS] == 1 and not blocked else 0
        if present[MODELLED, level] == 0:
            continue
        is_asked = present[OBSERVED, level] == 1 if observed else True
        for dimension in range(2):
            base = dimension_base(dimension)
            if is_asked:
                answers[MODELLED, level, dimension] = ask(limiters, r, base, now_ns)
            else:
                answers[MODELLED, level, dimension] = look(limiters, r, base, now_ns)
        if not observed:
            no_entries = want_entries == 0 or narrow_to_int32(answers[MODELLED, level, MSG]) == 0
            blocked = no_entries or want_bytes == 0 or answers[MODELLED, level, BYTES] == 0


@compiled
def compare_answers(event, broker_limiter, topic_limiters, t, dispatcher_limiters, d, answers, present):  # type: ignore[no-untyped-def]
    """Per level and dimension: is the broker's answer the model's? Unlimited, relative and unknown limiters are not compared."""
    for level in range(LEVEL_COUNT):
        if present[OBSERVED, level] == 0 or present[MODELLED, level] == 0:
            continue
        limiters, r = limiter_of(level, broker_limiter, topic_limiters, t, dispatcher_limiters, d)
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
def evaluate_read(event, broker_limiter, topics, topic_limiters, t, dispatchers, dispatcher_limiters, d, answers, present, lowered):  # type: ignore[no-untyped-def]
    """One evaluation of the read limits: both walks, counters, comparison, blocked time, binding or nominal."""
    want_entries = event[S0] >> 32
    want_bytes = event[S0 + WANT_BYTES]
    now_ns = event[S0 + ASKED_NS] if (event[MASK] >> ASKED_NS) & 1 else event[NS]
    observed = take_observed(event, answers, present)
    ask_model(
        event, observed, now_ns, broker_limiter, topic_limiters, t, dispatcher_limiters, d, answers, present, want_entries, want_bytes
    )
    if observed:
        compare_answers(event, broker_limiter, topic_limiters, t, dispatcher_limiters, d, answers, present)
    walk(answers[MODELLED], present[MODELLED], want_entries, want_bytes, lowered)
    add_throttled(dispatchers, d, lowered, D_MODELLED, D_MODELLED_SINCE_OPEN)
    truth = OBSERVED if observed else MODELLED
    entries, size, blocked_level = walk(answers[truth], present[truth], want_entries, want_bytes, lowered)
    add_throttled(dispatchers, d, lowered, D_THROTTLED, D_THROTTLED_SINCE_OPEN)
    dispatchers[d, D_READS] += 1
    dispatchers[d, D_READS_MODELLED] += 0 if observed else 1
    if observed and left_differs(event, entries, size, blocked_level):
        dispatchers[d, D_LEFT_MISMATCHES] += 1
    waiting_entries = topics[t, T_PUBLISHED_ENTRIES] - dispatchers[d, D_READ_ENTRIES]
    waiting_bytes = topics[t, T_PUBLISHED_BYTES] - dispatchers[d, D_READ_BYTES]
    is_blocked = blocked_level != NONE
    binds_entries = waiting_entries > (0 if is_blocked else entries)
    binds_bytes = waiting_bytes > (0 if is_blocked else size)
    note_asks(
        broker_limiter,
        topic_limiters,
        t,
        dispatcher_limiters,
        d,
        present[truth],
        lowered,
        blocked_level,
        entries,
        size,
        binds_entries,
        binds_bytes,
        observed,
    )
    note_outcome(dispatchers, d, lowered, blocked_level, binds_entries, binds_bytes)
    charge_blocked_time(dispatchers, d, event[NS])
    dispatchers[d, D_BLOCKED_LEVEL] = blocked_level
    if is_blocked:
        dispatchers[d, D_BLOCKED_AT_NS] = event[NS]
        dispatchers[d, D_BLOCKED_AT_TS] = event[TS]
    else:
        dispatchers[d, D_GRANTED_ENTRIES] = entries
        dispatchers[d, D_GRANTED_BYTES] = size


@compiled
def add_throttled(dispatchers, d, lowered, window, since_open):  # type: ignore[no-untyped-def]
    """The six counters: each at most +1 per read."""
    for level in range(LEVEL_COUNT):
        for dimension in range(2):
            dispatchers[d, window + 3 * dimension + level] += lowered[level, dimension]
            dispatchers[d, since_open + 3 * dimension + level] += lowered[level, dimension]


@compiled
def left_differs(event, entries, size, blocked_level):  # type: ignore[no-untyped-def]
    """Whether the logged `left_*` contradict the walk over the logged answers (never used for counting)."""
    left = event[S0] & LOW_32
    has_bytes = (event[MASK] >> LEFT_BYTES) & 1
    expected_entries = -1 if blocked_level != NONE else entries
    expected_bytes = -1 if blocked_level != NONE else size
    if left != 0 and left - 2 != expected_entries:
        return True
    return has_bytes == 1 and event[S0 + LEFT_BYTES] != expected_bytes


@compiled
def note_outcome(dispatchers, d, lowered, blocked_level, binds_entries, binds_bytes):  # type: ignore[no-untyped-def]
    """Shrunk or blocked, by whom, who was decisive, and whether anybody needed the rest."""
    msg_level = decisive_level(lowered, MSG)
    bytes_level = decisive_level(lowered, BYTES)
    if msg_level != NONE:
        dispatchers[d, D_DECISIVE + msg_level] += 1
    if bytes_level != NONE:
        dispatchers[d, D_DECISIVE + 3 + bytes_level] += 1
    if blocked_level != NONE:
        dispatchers[d, D_READS_BLOCKED] += 1
        dispatchers[d, D_READS_BLOCKED_BY + blocked_level] += 1
    elif msg_level != NONE or bytes_level != NONE:
        dispatchers[d, D_READS_SHRUNK] += 1
    else:
        return
    if (msg_level != NONE and binds_entries) or (bytes_level != NONE and binds_bytes):
        dispatchers[d, D_READS_BINDING] += 1
    else:
        dispatchers[d, D_READS_NOMINAL] += 1


@compiled
def note_asks(  # type: ignore[no-untyped-def]
    broker_limiter, topic_limiters, t, dispatcher_limiters, d, took_part, lowered, blocked_level, entries, size, binds_entries, binds_bytes, observed,
):  # fmt: skip
    """Per limiter and dimension: asked, shrunk to more than nothing, blocked, and bound. Levels beyond the one that blocked were not asked."""
    for level in range(LEVEL_COUNT):
        if took_part[level] == 0 or (blocked_level != NONE and level > blocked_level):
            continue
        limiters, r = limiter_of(level, broker_limiter, topic_limiters, t, dispatcher_limiters, d)
        if limiters[r, L_EXISTS] == 0:
            continue
        for dimension in range(2):
            base = dimension_base(dimension)
            if limiters[r, base + L_RATE] <= 0:
                continue
            limiters[r, base + L_ASKS] += 1
            limiters[r, base + L_ASKS_MODELLED] += 0 if observed else 1
            if lowered[level, dimension] == 0:
                continue
            left = entries if dimension == MSG else size
            if level == blocked_level and left == 0:
                limiters[r, base + L_ASKS_BLOCKED] += 1
            else:
                limiters[r, base + L_ASKS_SHRUNK] += 1
            if binds_entries if dimension == MSG else binds_bytes:
                limiters[r, base + L_ASKS_BINDING] += 1


@compiled
def charge(event, broker_limiter, topics, topic_limiters, t, dispatchers, dispatcher_limiters, d):  # type: ignore[no-untyped-def]
    """A delivery: counted, its read position moved, and charged alike to every limiter that exists (unless `charged=false`)."""
    entries = event[S0 + _ENTRIES]
    msgs = event[S0 + _MSGS]
    size = event[S0 + _BYTES]
    dispatchers[d, D_DISPATCHES] += 1
    dispatchers[d, D_DISPATCHED_ENTRIES] = add(dispatchers[d, D_DISPATCHED_ENTRIES], entries)
    dispatchers[d, D_DISPATCHED_MSGS] = add(dispatchers[d, D_DISPATCHED_MSGS], msgs)
    dispatchers[d, D_DISPATCHED_BYTES] = add(dispatchers[d, D_DISPATCHED_BYTES], size)
    granted_entries = dispatchers[d, D_GRANTED_ENTRIES]
    if granted_entries != NONE and (entries > granted_entries or size > dispatchers[d, D_GRANTED_BYTES]):
        dispatchers[d, D_OVERSIZED] += 1
    read_up_to(dispatchers, d, topics, t, add(dispatchers[d, D_READ_ENTRIES], entries), add(dispatchers[d, D_READ_BYTES], size))
    if (event[MASK] >> _CHARGED) & 1 and event[S0 + _CHARGED] == 0:
        dispatchers[d, D_UNCHARGED_MSGS] = add(dispatchers[d, D_UNCHARGED_MSGS], msgs)
        return
    permits = entries if dispatchers[d, D_BATCH_MODE] == 1 else msgs
    for level in range(LEVEL_COUNT):
        limiters, r = limiter_of(level, broker_limiter, topic_limiters, t, dispatcher_limiters, d)
        if limiters[r, L_EXISTS] == 0:
            continue
        for dimension in range(2):
            base = dimension_base(dimension)
            used = permits if dimension == MSG else size
            beyond = consume(limiters, r, base, used, event[NS])
            limiters[r, base + L_OVER_DELIVERED] = add(limiters[r, base + L_OVER_DELIVERED], beyond)
            if limiters[r, base + L_RATE] > 0:
                limiters[r, base + L_USED] = add(limiters[r, base + L_USED], used)
