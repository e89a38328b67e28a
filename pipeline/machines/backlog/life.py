"""Topics, cursors and producers come and go."""

from pipeline.machines import fields
from pipeline.machines.array import Array
from pipeline.machines.backlog.cursors import backlog_entries
from pipeline.machines.backlog.decisions import resolve
from pipeline.machines.backlog.deleted import forget_deleted, pass_deleted
from pipeline.machines.backlog.heap import moved, push, remove
from pipeline.machines.backlog.layout import (
    C_BEGAN_COMPLETE,
    C_CLOSED_AT,
    C_CUMULATIVE_LEDGER,
    C_DELETED,
    C_DELETED_UNKNOWN,
    C_DURABLE,
    C_ENTRY,
    C_HEAP_POSITION,
    C_ID,
    C_LEDGER,
    C_LOSSES_AT_OPEN,
    C_NEXT_OF_TOPIC,
    C_OPEN,
    C_OPENED_AT,
    C_OPENED_BACKLOG,
    C_OPENED_END,
    C_OWNER,
    C_PERSISTED_ENTRY,
    C_PERSISTED_LEDGER,
    C_PREVIOUS_OF_TOPIC,
    C_TOPIC,
    C_WORDS,
    CURSOR_COLUMNS,
    NONE,
    NOTHING,
    S_CURSORS,
    S_LOSSES,
    S_TOPICS,
    T_ALIVE,
    T_BEGAN_COMPLETE,
    T_CONFIRMED_LEDGER,
    T_CURSORS,
    T_DECIDED,
    T_END_BYTES,
    T_END_ENTRIES,
    T_EVICTIONS_SIZE,
    T_EVICTIONS_TIME,
    T_FIRST_CURSOR,
    T_HEAP,
    T_ID,
    T_LEDGERS,
    T_LOADED,
    T_LOSSES_AT_START,
    T_OLDEST,
    T_PRODUCERS,
    T_SIZE_LIMIT,
    T_SIZE_POLICY,
    T_TIME_LIMIT,
    T_TIME_POLICY,
    T_UNLOADED_AT,
    UNLIMITED,
)
from pipeline.machines.backlog.state import State
from pipeline.machines.blocks import Blocks
from pipeline.machines.compiled import compiled, compiled_part
from pipeline.machines.index import EMPTY, find, insert
from pipeline.machines.segments import SEGMENT, clear

#: Ledger of a position beyond every ledger: where a cursor stands of which nothing is known.
_END_OF_LOG = 2**62


@compiled_part
def new_topic(state: State, topic_id: int) -> int:
    """Row for a topic that is met for the first time; nothing of its life is known yet."""
    t = state.scalars[S_TOPICS]
    state.scalars[S_TOPICS] += 1
    topic = state.topics[t]
    topic[:] = 0
    topic[T_ID], topic[T_FIRST_CURSOR] = topic_id, NONE
    _forget_quotas(topic)
    insert(state.topic_index, topic_id, 0, t)
    return t


@compiled_part
def meet_topic(topic: Array) -> None:
    """Something of the topic's life is in the log, without its load: followed from here on, not complete."""
    if topic[T_ALIVE] == 0:
        topic[T_ALIVE], topic[T_LOADED], topic[T_UNLOADED_AT] = 1, 1, 0
        topic[T_BEGAN_COMPLETE] = 0


@compiled_part
def load_topic(state: State, t: int, now_us: int) -> None:
    """The topic's object is made: everything of an earlier one is gone, but for what was published and the durable counters."""
    unload_topic(state, t, now_us)
    topic = state.topics[t]
    topic[T_ALIVE], topic[T_LOADED], topic[T_UNLOADED_AT] = 1, 1, 0
    topic[T_BEGAN_COMPLETE], topic[T_LOSSES_AT_START] = 1, state.scalars[S_LOSSES]


@compiled
def unload_topic(state: State, t: int, now_us: int) -> None:
    """The topic's object is dropped: ledgers, cursors, counters, the oldest position, quotas. Publish times stay a while."""
    topic = state.topics[t]
    resolve(state, t, now_us)
    c = topic[T_FIRST_CURSOR]
    while c != NONE:
        following = state.cursors[c, C_NEXT_OF_TOPIC]
        _forget_cursor(state.cursors[c])
        state.cursors[c, C_CLOSED_AT] = now_us
        c = following
    topic[T_FIRST_CURSOR], topic[T_CURSORS], topic[T_PRODUCERS] = NONE, 0, 0
    clear(topic, T_LEDGERS)
    clear(topic, T_HEAP)
    topic[T_END_ENTRIES], topic[T_END_BYTES], topic[T_CONFIRMED_LEDGER] = 0, 0, 0
    _forget_quotas(topic)
    topic[T_EVICTIONS_SIZE], topic[T_EVICTIONS_TIME] = 0, 0
    topic[T_OLDEST], topic[T_DECIDED] = NOTHING, 0
    topic[T_ALIVE], topic[T_LOADED], topic[T_UNLOADED_AT] = 0, 0, now_us


@compiled_part
def _forget_quotas(topic: Array) -> None:
    topic[T_SIZE_LIMIT], topic[T_TIME_LIMIT] = UNLIMITED, UNLIMITED
    topic[T_SIZE_POLICY], topic[T_TIME_POLICY] = NONE, NONE


@compiled_part
def _forget_cursor(cursor: Array) -> None:
    """The row stays for a cursor of the same name, with the entries it had deleted: the broker keeps those over an unload."""
    for column in range(C_OPEN, len(CURSOR_COLUMNS)):
        if not C_WORDS <= column < C_WORDS + SEGMENT and column != C_DELETED:
            cursor[column] = 0
    cursor[C_HEAP_POSITION] = NONE


@compiled_part
def meet_cursor(state: State, t: int, sub_id: int, now_us: int) -> int:
    """Row of a cursor that is met without its opening: taken to be durable and to stand at the end of the log."""
    meet_topic(state.topics[t])
    c = _row_for(state, t, sub_id)
    topic, cursor = state.topics[t], state.cursors[c]
    _begin_cursor(state, t, c, now_us)
    cursor[C_DURABLE] = 1
    cursor[C_LEDGER], cursor[C_ENTRY] = _END_OF_LOG, -1
    cursor[C_PERSISTED_LEDGER], cursor[C_PERSISTED_ENTRY] = _END_OF_LOG, -1
    cursor[C_OPENED_END] = topic[T_END_ENTRIES]
    push(topic, state.heap, state.heap_ends, state.cursors, c)
    return c


@compiled_part
def open_cursor(state: State, t: int, event: Array) -> None:
    """`cursor_open`: a durable one joins the heap at its position."""
    meet_topic(state.topics[t])
    c = _row_for(state, t, event[fields.SUB_ID])
    close_cursor(state, t, c)
    topic, cursor = state.topics[t], state.cursors[c]
    _begin_cursor(state, t, c, event[fields.TS])
    _keep_deleted(cursor, state.words, event)
    cursor[C_BEGAN_COMPLETE], cursor[C_LOSSES_AT_OPEN] = 1, state.scalars[S_LOSSES]
    cursor[C_DURABLE], cursor[C_OWNER] = event[fields.DURABLE], event[fields.CURSOR_OWNER]
    cursor[C_LEDGER], cursor[C_ENTRY] = event[fields.LEDGER], event[fields.ENTRY]
    cursor[C_PERSISTED_LEDGER], cursor[C_PERSISTED_ENTRY] = event[fields.LEDGER], event[fields.ENTRY]
    cursor[C_OPENED_END] = topic[T_END_ENTRIES]
    cursor[C_OPENED_BACKLOG] = backlog_entries(topic, state.ledgers, cursor)
    if cursor[C_DURABLE] == 1:
        push(topic, state.heap, state.heap_ends, state.cursors, c)


@compiled_part
def _keep_deleted(cursor: Array, words: Blocks, event: Array) -> None:
    """Of a cursor that comes back as a snapshot: the entries known to be deleted behind it, if they are as many as it says or it says
    nothing; else that many of which nobody knows which.
    """
    pass_deleted(cursor, words, event[fields.LEDGER], event[fields.ENTRY])
    is_told = fields.has(event, fields.CURSOR_ENTRIES)
    if event[fields.CURSOR_SNAPSHOT] == 1 and (not is_told or event[fields.CURSOR_ENTRIES] == cursor[C_DELETED]):
        return
    forget_deleted(cursor, words)
    cursor[C_DELETED_UNKNOWN] = event[fields.CURSOR_ENTRIES]


@compiled_part
def close_cursor(state: State, t: int, c: int) -> None:
    """Unsubscribed, or the reader is gone."""
    topic, cursor = state.topics[t], state.cursors[c]
    if cursor[C_OPEN] == 0:
        return
    if cursor[C_HEAP_POSITION] != NONE:
        remove(topic, state.heap, state.cursors, c)
    before, behind = cursor[C_PREVIOUS_OF_TOPIC], cursor[C_NEXT_OF_TOPIC]
    if before == NONE:
        topic[T_FIRST_CURSOR] = behind
    else:
        state.cursors[before, C_NEXT_OF_TOPIC] = behind
    if behind != NONE:
        state.cursors[behind, C_PREVIOUS_OF_TOPIC] = before
    topic[T_CURSORS] -= 1
    _forget_cursor(cursor)
    forget_deleted(cursor, state.words)


@compiled_part
def persist(state: State, t: int, c: int, ledger: int, entry: int) -> None:
    """The mark-delete position in the metadata moved: the heap follows."""
    cursor = state.cursors[c]
    cursor[C_PERSISTED_LEDGER], cursor[C_PERSISTED_ENTRY] = ledger, entry
    if cursor[C_HEAP_POSITION] != NONE:
        moved(state.topics[t], state.heap, state.cursors, c)


@compiled_part
def _row_for(state: State, t: int, sub_id: int) -> int:
    topic_id = state.topics[t, T_ID]
    c = find(state.cursor_index, state.cursors, C_ID, C_TOPIC, sub_id, topic_id)
    if c != EMPTY:
        return c
    c = state.scalars[S_CURSORS]
    state.scalars[S_CURSORS] += 1
    state.cursors[c, :] = 0
    state.cursors[c, C_ID], state.cursors[c, C_TOPIC], state.cursors[c, C_HEAP_POSITION] = sub_id, topic_id, NONE
    insert(state.cursor_index, sub_id, topic_id, c)
    return c


@compiled_part
def _begin_cursor(state: State, t: int, c: int, now_us: int) -> None:
    topic, cursor = state.topics[t], state.cursors[c]
    _forget_cursor(cursor)
    cursor[C_OPEN], cursor[C_OPENED_AT] = 1, now_us
    cursor[C_CUMULATIVE_LEDGER] = NONE
    cursor[C_PREVIOUS_OF_TOPIC], cursor[C_NEXT_OF_TOPIC] = NONE, topic[T_FIRST_CURSOR]
    if topic[T_FIRST_CURSOR] != NONE:
        state.cursors[topic[T_FIRST_CURSOR], C_PREVIOUS_OF_TOPIC] = c
    topic[T_FIRST_CURSOR] = c
    topic[T_CURSORS] += 1
