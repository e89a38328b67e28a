"""The compiled fold: events of one broker in `seq` order, applied to the State, one small rule per event type.

Law: an event either is applied whole or not at all. Before each event the fold checks that the arrays have room for whatever it could
add; if not it stops there, and its caller makes room and goes on from the same event.
"""

from pipeline.machines import fields
from pipeline.machines.array import Array
from pipeline.machines.backlog.cursors import (
    acknowledge,
    acknowledge_up_to,
    backlog_entries,
    deliver,
    is_acknowledged_up_to,
    mark_delete,
    seek,
)
from pipeline.machines.backlog.decisions import begin_check, eviction_explains, note_checked, note_exceeded, note_reached, would_evict
from pipeline.machines.backlog.deleted import pass_deleted
from pipeline.machines.backlog.fits import capacity_of, has_room, has_room_for_all, has_room_for_check
from pipeline.machines.backlog.layout import (
    BY_INTERVAL,
    BY_LOG,
    C_CONSUMERS,
    C_EXPIRED,
    C_ID,
    C_MOVED,
    C_MOVED_ENTRIES,
    C_NEXT_OF_TOPIC,
    C_OPEN,
    C_TOPIC,
    C_UNACKED,
    G_CLOSED,
    G_ENTRIES,
    G_LEDGER,
    NONE,
    S_BUCKETS,
    S_CHECK_ENABLED,
    S_CHECKS_LOGGED,
    S_DURATIONS,
    S_INTERVAL_S,
    S_LOSSES,
    S_NEXT_CHECK_US,
    S_PRECISE,
    S_ROUND,
    S_ROUNDS,
    S_ROUNDS_OPEN,
    S_STARTED,
    S_SUM_S,
    S_TOPICS,
    S_VERSION,
    T_ALIVE,
    T_CHECKED_ROUND,
    T_CONFIRMED_LEDGER,
    T_CURSORS,
    T_DECIDED,
    T_DECISION,
    T_FIRST_CURSOR,
    T_ID,
    T_LEDGERS,
    T_LEDGERS_USED,
    T_LOADED,
    T_PRODUCERS,
    T_PRODUCERS_CLOSED,
    T_SIZE_LIMIT,
    T_SIZE_POLICY,
    T_TIME_LIMIT,
    T_TIME_POLICY,
    T_ZERO,
)
from pipeline.machines.backlog.ledgers import close_ledger, find_ledger, grow_ledger, meet_ledger, trim_ledger
from pipeline.machines.backlog.life import close_cursor, load_topic, meet_cursor, meet_topic, new_topic, open_cursor, persist, unload_topic
from pipeline.machines.backlog.marks import forget_marks, mark_entry
from pipeline.machines.backlog.oldest import update_oldest
from pipeline.machines.backlog.state import State
from pipeline.machines.blocks import Blocks
from pipeline.machines.compiled import compiled, compiled_part
from pipeline.machines.index import EMPTY, find
from pipeline.machines.segments import first_row
from schemas.events import CODES, TOMBSTONE_CODE

BROKER_START, SETTING, BACKLOG_QUOTA = CODES["broker_start"], CODES["setting"], CODES["backlog_quota"]
TOPIC_LOAD, TOPIC_UNLOAD = CODES["topic_load"], CODES["topic_unload"]
LEDGER_OPEN, LEDGER_CLOSE, LEDGER_TRIM = CODES["ledger_open"], CODES["ledger_close"], CODES["ledger_trim"]
CURSOR_OPEN, CURSOR_CLOSE = CODES["cursor_open"], CODES["cursor_close"]
CONSUMER_OPEN, CONSUMER_CLOSE = CODES["consumer_open"], CODES["consumer_close"]
PRODUCER_OPEN, PRODUCER_CLOSE = CODES["producer_open"], CODES["producer_close"]
PUBLISH, DISPATCH, ACK, MARK_DELETE = CODES["publish"], CODES["dispatch"], CODES["ack"], CODES["mark_delete"]
QUOTA_ROUND, QUOTA_CHECK, QUOTA_EXCEEDED = CODES["quota_round"], CODES["quota_check"], CODES["quota_exceeded"]

# Whose state an event changes.
BROKER, TOPIC, SUBSCRIPTION = 0, 1, 2
US_PER_S = 1_000_000
#: Rounds that a log may be late with its first check before it is taken to have none.
INTERVALS_WAITED = 2


@compiled
def fold(state: State, events: Array, start: int) -> int:
    """Apply `events[start:]` (int64 [n, LANE_COLUMNS], in order).

    Returns the position of the first event that was not applied: n, or where room ran out.
    """
    scalars, topics, capacity = state.scalars, state.topics, capacity_of(state)
    for position in range(start, events.shape[0]):
        event = events[position]
        code = event[fields.TYPE]
        if scalars[S_CHECKS_LOGGED] == 0 and event[fields.TS] >= scalars[S_NEXT_CHECK_US]:
            if not has_room_for_all(scalars, capacity):
                return position
            check_by_interval(state, event[fields.TS])
        owner = owner_of(code)
        if owner == NONE:
            scalars[S_LOSSES] += 1 if code == TOMBSTONE_CODE else 0
            continue
        if owner == BROKER:
            apply_to_broker(scalars, event, code)
            continue
        if not has_room(scalars, capacity, state.ledgers_ends, state.heap_ends, state.marks, state.words):
            return position
        t = find(state.topic_index, topics, T_ID, T_ZERO, event[fields.TOPIC_ID], 0)
        if t == EMPTY:
            t = new_topic(state, event[fields.TOPIC_ID])
        if code == PUBLISH:
            apply_publish(topics[t], state.ledgers, state.ledgers_ends, state.marks, event)
            continue
        if may_tell(scalars, code) and not has_room_for_check(scalars, capacity, topics[t, T_CURSORS] + 1):
            return position
        if owner == TOPIC:
            apply_to_topic(state, t, event, code)
            continue
        c = find(state.cursor_index, state.cursors, C_ID, C_TOPIC, event[fields.SUB_ID], event[fields.TOPIC_ID])
        if code == CURSOR_OPEN:
            open_cursor(state, t, event)
            continue
        if c == EMPTY or state.cursors[c, C_OPEN] == 0:
            c = meet_cursor(state, t, event[fields.SUB_ID], event[fields.TS])
        if code == ACK:
            apply_ack(state.cursors[c], state.words, event)
        elif code == MARK_DELETE:
            apply_mark_delete(state, t, c, event)
        else:
            apply_to_subscription(state, t, c, event, code)
    return events.shape[0]


@compiled_part
def owner_of(code: int) -> int:
    """BROKER, TOPIC or SUBSCRIPTION, or NONE if there is no rule for the type."""
    if code in (PUBLISH, TOPIC_LOAD, TOPIC_UNLOAD, BACKLOG_QUOTA, QUOTA_CHECK, QUOTA_EXCEEDED):
        return TOPIC
    if LEDGER_OPEN <= code <= LEDGER_TRIM or PRODUCER_OPEN <= code <= PRODUCER_CLOSE:
        return TOPIC
    if code in (ACK, MARK_DELETE, DISPATCH, CURSOR_OPEN, CURSOR_CLOSE, CONSUMER_OPEN, CONSUMER_CLOSE):
        return SUBSCRIPTION
    return BROKER if code in (BROKER_START, SETTING, QUOTA_ROUND) else NONE


@compiled_part
def may_tell(scalars: Array, code: int) -> bool:
    """Whether an event of this type may be the instant of a check, or resolve a decision."""
    if code == MARK_DELETE:
        return scalars[S_ROUNDS_OPEN] > 0
    return code in (QUOTA_CHECK, QUOTA_EXCEEDED, TOPIC_LOAD, TOPIC_UNLOAD)


@compiled_part
def check_by_interval(state: State, now_us: int) -> None:
    """The log has no checks: every loaded topic is checked when the lane's time passes the configured interval."""
    scalars = state.scalars
    interval_us = max(1, scalars[S_INTERVAL_S]) * US_PER_S
    if scalars[S_NEXT_CHECK_US] == 0:
        scalars[S_NEXT_CHECK_US] = now_us + INTERVALS_WAITED * interval_us
        return
    if scalars[S_CHECK_ENABLED] == 1:
        for t in range(scalars[S_TOPICS]):
            if state.topics[t, T_LOADED] == 1:
                begin_check(state, t, scalars[S_NEXT_CHECK_US], BY_INTERVAL)
    missed = (now_us - scalars[S_NEXT_CHECK_US]) // interval_us
    scalars[S_NEXT_CHECK_US] += (missed + 1) * interval_us


@compiled_part
def apply_to_broker(scalars: Array, event: Array, code: int) -> None:
    """The process starts, a setting changes, a round of checks begins or ends."""
    if code == QUOTA_ROUND:
        scalars[S_CHECKS_LOGGED] = 1
        if event[fields.ROUND_PHASE] == 0:
            scalars[S_ROUNDS_OPEN] += 1
            scalars[S_ROUND] += 1
        else:
            scalars[S_ROUNDS_OPEN] = max(0, scalars[S_ROUNDS_OPEN] - 1)
            scalars[S_ROUNDS] += 1
        return
    if code == BROKER_START:
        scalars[S_STARTED] = 1
        scalars[S_VERSION] = event[fields.VERSION]
        scalars[S_NEXT_CHECK_US] = 0
    if fields.has(event, fields.PRECISE_CHECK):
        scalars[S_PRECISE] = event[fields.PRECISE_CHECK]
    if fields.has(event, fields.CHECK_ENABLED):
        scalars[S_CHECK_ENABLED] = event[fields.CHECK_ENABLED]
    if fields.has(event, fields.CHECK_INTERVAL_S):
        scalars[S_INTERVAL_S] = event[fields.CHECK_INTERVAL_S]


@compiled_part
def apply_to_topic(state: State, t: int, event: Array, code: int) -> None:
    """Events of one topic: its load and unload, quotas and checks, producers, ledgers, what is published."""
    topic, now_us = state.topics[t], event[fields.TS]
    if code == TOPIC_LOAD:
        load_topic(state, t, now_us)
    elif code == TOPIC_UNLOAD:
        unload_topic(state, t, now_us)
    elif code == BACKLOG_QUOTA:
        set_quota(topic, event)
    elif code == QUOTA_CHECK:
        apply_check(state, t, event)
    elif code == QUOTA_EXCEEDED:
        state.scalars[S_CHECKS_LOGGED] = 1
        note_exceeded(state, t, now_us, event[fields.EXCEEDED_TYPE], event[fields.EXCEEDED_POLICY], event[fields.EXCEEDED_LIMIT])
    elif code == PRODUCER_OPEN:
        topic[T_PRODUCERS] += 1
    elif code == PRODUCER_CLOSE:
        topic[T_PRODUCERS] = max(0, topic[T_PRODUCERS] - 1)
        topic[T_PRODUCERS_CLOSED] += 1 if topic[T_DECISION] != 0 else 0
    else:
        meet_topic(topic)
        apply_to_ledger(state, t, event, code)


@compiled_part
def set_quota(topic: Array, event: Array) -> None:
    """The effective quota of one type; a topic has one of each."""
    if event[fields.QUOTA_TYPE] == 0:
        topic[T_SIZE_LIMIT], topic[T_SIZE_POLICY] = event[fields.LIMIT], event[fields.POLICY]
    else:
        topic[T_TIME_LIMIT], topic[T_TIME_POLICY] = event[fields.LIMIT], event[fields.POLICY]


@compiled_part
def apply_check(state: State, t: int, event: Array) -> None:
    """`quota_check`: a topic's check is done, or a producer asked to be let in and the oldest position was looked up anew."""
    topic, scalars = state.topics[t], state.scalars
    if event[fields.OUTSIDE_OF_ROUND] == 1:
        if topic[T_ALIVE] == 1:
            update_oldest(topic, state.ledgers, state.marks, state.heap, state.cursors, scalars[S_PRECISE] == 1)
        return
    scalars[S_CHECKS_LOGGED] = 1
    note_checked(state, t, event[fields.TS])
    topic[T_CHECKED_ROUND] = scalars[S_ROUND]
    if fields.has(event, fields.CHECK_DURATION_US):
        duration_us = event[fields.CHECK_DURATION_US]
        state.durations[scalars[S_DURATIONS]] = duration_us
        scalars[S_DURATIONS] += 1
        seconds = duration_us // US_PER_S
        scalars[S_SUM_S] += seconds
        first = 0 if seconds <= 5 else 1 if seconds <= 10 else 2 if seconds <= 30 else 3 if seconds <= 60 else 4 if seconds <= 300 else 5
        for bucket in range(first, 6):
            scalars[S_BUCKETS + bucket] += 1


@compiled_part
def apply_to_ledger(state: State, t: int, event: Array, code: int) -> None:
    """A ledger opens, closes, or is trimmed."""
    topic, ledgers, ledger = state.topics[t], state.ledgers, event[fields.LEDGER]
    if code == LEDGER_TRIM:
        trim(state, t, ledger)
        return
    row = meet_ledger(topic, ledgers, state.ledgers_ends, ledger)
    if code == LEDGER_CLOSE:
        close_ledger(topic, ledgers, row, event[fields.CLOSED_ENTRIES], event[fields.CLOSED_BYTES], event[fields.CLOSE_TS])
        return
    ledgers[row, G_CLOSED] = 0
    # The ledger opened at a load begins after everything confirmed; one opened by a roll-over confirms nothing yet (§2.2).
    if event[fields.OPENED_SNAPSHOT] == 1:
        topic[T_CONFIRMED_LEDGER] = max(topic[T_CONFIRMED_LEDGER], ledger)


@compiled_part
def apply_publish(topic: Array, ledgers: Array, ledgers_ends: Array, marks: Blocks, event: Array) -> None:
    """An entry was persisted."""
    meet_topic(topic)
    ledger, entry = event[fields.LEDGER], event[fields.ENTRY]
    row = meet_ledger(topic, ledgers, ledgers_ends, ledger)
    if entry < ledgers[row, G_ENTRIES]:
        return  # of one ledger the order is exact: this entry was told before
    # A ledger that was met in mid-life has the entries before this one too; of what size nobody said.
    grow_ledger(topic, ledgers, row, entry + 1 - ledgers[row, G_ENTRIES], event[fields.PUBLISHED_BYTES])
    mark_entry(topic, marks, ledger, entry, event[fields.PUBLISHED_MSGS], event[fields.PUBLISH_TS])
    topic[T_CONFIRMED_LEDGER] = max(topic[T_CONFIRMED_LEDGER], ledger)


@compiled_part
def trim(state: State, t: int, ledger: int) -> None:
    """A ledger goes; entries of it that a cursor still had to read are gone for it."""
    topic, ledgers = state.topics[t], state.ledgers
    row = find_ledger(topic, ledgers, ledger)
    if row < 0:
        return
    last = ledgers[row, G_ENTRIES] - 1
    c = topic[T_FIRST_CURSOR]
    while c != NONE:
        cursor = state.cursors[c]
        cursor[C_EXPIRED] += backlog_entries(topic, ledgers, cursor)
        pass_deleted(cursor, state.words, ledger, last)
        c = cursor[C_NEXT_OF_TOPIC]
    trim_ledger(topic, ledgers, ledger)
    c = topic[T_FIRST_CURSOR]
    while c != NONE:
        state.cursors[c, C_EXPIRED] -= backlog_entries(topic, ledgers, state.cursors[c])
        c = state.cursors[c, C_NEXT_OF_TOPIC]
    first = first_row(topic, T_LEDGERS)
    forget_marks(topic, state.marks, ledgers[first, G_LEDGER] if topic[T_LEDGERS_USED] > 0 else ledger + 1)


@compiled_part
def apply_ack(cursor: Array, words: Blocks, event: Array) -> None:
    """An acknowledged position. A part of a batch leaves its entry where it is."""
    if fields.has(event, fields.BATCH_INDEX):
        return
    if event[fields.ACK_TYPE] == 1:
        acknowledge_up_to(cursor, event[fields.LEDGER], event[fields.ENTRY])
    else:
        acknowledge(cursor, words, event[fields.LEDGER], event[fields.ENTRY])


@compiled_part
def apply_to_subscription(state: State, t: int, c: int, event: Array, code: int) -> None:
    """What is delivered, the end of a cursor, its consumers."""
    cursor = state.cursors[c]
    if code == DISPATCH:
        deliver(cursor, event[fields.ENTRIES], event[fields.MSGS])
    elif code == CURSOR_CLOSE:
        close_cursor(state, t, c)
    elif code == CONSUMER_OPEN:
        cursor[C_CONSUMERS] += 1
    else:
        cursor[C_CONSUMERS] = max(0, cursor[C_CONSUMERS] - 1)
        if cursor[C_CONSUMERS] == 0:
            cursor[C_UNACKED] = 0  # what was in flight goes back


@compiled_part
def apply_mark_delete(state: State, t: int, c: int, event: Array) -> None:
    """The mark-delete position moved: in the metadata that orders the heap, or in memory, by a seek, acknowledgements, or an action."""
    topic, cursor = state.topics[t], state.cursors[c]
    ledger, entry = event[fields.LEDGER], event[fields.ENTRY]
    if event[fields.MARK_PERSISTED] == 1:
        persist(state, t, c, ledger, entry)
    elif event[fields.MARK_RESET] == 1:
        seek(topic, state.ledgers, cursor, state.words, ledger, entry)
    else:
        evicting = False
        if not is_acknowledged_up_to(topic, state.ledgers, cursor, state.words, ledger, entry):
            evicting = explain_move(state, t, c, ledger, entry, event[fields.TS])
        evicted = mark_delete(topic, state.ledgers, cursor, state.words, ledger, entry, evicting)
        if evicted > 0:
            cursor[C_MOVED] = 1
            cursor[C_MOVED_ENTRIES] += evicted


@compiled_part
def explain_move(state: State, t: int, c: int, ledger: int, entry: int, now_us: int) -> bool:
    """A move that no acknowledgement explains: whether an eviction does. If none is known, one may begin right here: without
    `quota_exceeded` the first such move in a round says when its topic was decided.
    """
    evicting = eviction_explains(state, t, c, ledger, entry, now_us)
    if not evicting and awaits_check(state, t) and would_evict(state, t, c, ledger, entry, now_us):
        begin_check(state, t, now_us, BY_LOG)
        state.topics[t, T_DECIDED] = 1
        evicting = True
    if evicting:
        note_reached(state, t, c, ledger, entry, now_us)
    return evicting


@compiled_part
def awaits_check(state: State, t: int) -> bool:
    """Whether a round goes on in which this topic is neither decided nor done."""
    topic, scalars = state.topics[t], state.scalars
    return scalars[S_ROUNDS_OPEN] > 0 and topic[T_DECIDED] == 0 and topic[T_CHECKED_ROUND] < scalars[S_ROUND]
