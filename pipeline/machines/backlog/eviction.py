"""What an eviction should do, by the rules of the broker's version (§2.6): planned on a copy of nothing but positions, never applied.

The mark-deletes that follow in the log are what the broker did; rows show both.
"""

import numpy as np

from pipeline.machines.array import Array
from pipeline.machines.backlog.cursors import backlog_entries, is_behind
from pipeline.machines.backlog.deleted import count_deleted, deleted_run, is_deleted
from pipeline.machines.backlog.heap import moved, slowest
from pipeline.machines.backlog.layout import (
    C_DELETED_UNKNOWN,
    C_ENTRY,
    C_FROM_ENTRY,
    C_FROM_LEDGER,
    C_HEAP_POSITION,
    C_LEDGER,
    C_NEXT_OF_TOPIC,
    C_OWNER,
    C_PERSISTED_ENTRY,
    C_PERSISTED_LEDGER,
    C_PLANNED,
    C_PLANNED_ENTRIES,
    C_PLANNED_ENTRY,
    C_PLANNED_LEDGER,
    FIRST_MOVE_COLUMN,
    G_CLOSE_MS,
    G_CLOSED,
    G_ENTRIES,
    G_ENTRIES_BEFORE,
    G_LEDGER,
    NONE,
    S_PRECISE,
    S_VERSION,
    SIZE,
    T_CONFIRMED_LEDGER,
    T_FIRST_CURSOR,
    T_HEAP,
    T_HEAP_USED,
    T_LEDGERS,
    T_LEDGERS_USED,
    T_SIZE_LIMIT,
    T_SIZE_PLANNED,
    T_TARGET,
    T_TIME_LIMIT,
    TIME,
)
from pipeline.machines.backlog.ledgers import find_ledger, first_entries_before, lower_bound, place_of, row_of_place, size_behind
from pipeline.machines.backlog.marks import newest_before
from pipeline.machines.backlog.state import State
from pipeline.machines.blocks import Blocks
from pipeline.machines.compiled import compiled_part
from pipeline.machines.segments import first_row

#: From these on a size target is truncated to a long first, and of n = (s − target) · unacked / s the product comes first (#25624).
TRUNCATES_4_0, FIRST_4_1, TRUNCATES_4_2 = 4_000_011, 4_001_000, 4_002_002
MS_PER_S = 1000


@compiled_part
def plan_eviction(state: State, t: int, decision: int, now_ms: int) -> None:
    """Fill the plan columns of the topic and its cursors. Positions and the heap are left as they were."""
    c = state.topics[t, T_FIRST_CURSOR]
    while c != NONE:
        cursor = state.cursors[c]
        cursor[C_PLANNED] = 0
        cursor[C_FROM_LEDGER], cursor[C_FROM_ENTRY] = cursor[C_LEDGER], cursor[C_ENTRY]
        cursor[C_PLANNED_LEDGER], cursor[C_PLANNED_ENTRY], cursor[C_PLANNED_ENTRIES] = cursor[C_LEDGER], cursor[C_ENTRY], 0
        c = cursor[C_NEXT_OF_TOPIC]
    # The rules look at the heap as it changes: the plan moves the real one, and puts it back.
    topic = state.topics[t]
    first, used = first_row(topic, T_HEAP), topic[T_HEAP_USED]
    kept = state.heap[first : first + used, 0].copy()
    keys = _planned_keys(state.cursors, kept)
    if decision == SIZE:
        _plan_size(state, t)
    elif state.scalars[S_PRECISE] == 1:
        _plan_precise(state, t, now_ms)
    else:
        _plan_closed_ledgers(state, t, now_ms)
    for position in range(used):
        c = kept[position]
        state.heap[first + position, 0] = c
        state.cursors[c, C_HEAP_POSITION] = position
        state.cursors[c, C_PERSISTED_LEDGER], state.cursors[c, C_PERSISTED_ENTRY] = keys[position, 0], keys[position, 1]


@compiled_part
def forget_plan(state: State, t: int) -> None:
    """No cursor of the topic is planned to move."""
    c = state.topics[t, T_FIRST_CURSOR]
    while c != NONE:
        state.cursors[c, FIRST_MOVE_COLUMN:] = 0
        c = state.cursors[c, C_NEXT_OF_TOPIC]


@compiled_part
def reaches(state: State, t: int, c: int, decision: int, ledger: int, entry: int, now_ms: int) -> bool:
    """Whether (`ledger`, `entry`) is no further than where the eviction takes cursor `c`, if it moves it at all."""
    topic, cursor = state.topics[t], state.cursors[c]
    end_ledger, end_entry = _end_of_move(state, t, c, decision, now_ms)
    if end_ledger < 0 or (end_ledger == cursor[C_LEDGER] and end_entry == cursor[C_ENTRY]):
        return False
    if ledger == end_ledger:
        return entry <= end_entry
    return ledger < end_ledger or place_of(topic, state.ledgers, ledger, entry) <= place_of(topic, state.ledgers, end_ledger, end_entry)


@compiled_part
def reaches_target(state: State, t: int, c: int, decision: int, ledger: int, entry: int, now_ms: int) -> bool:
    """Whether an eviction's move of a cursor to (`ledger`, `entry`) ends where the plan says. A precise age eviction reads the clock again
    while it searches: it may end anywhere between the plan's position and what the plan would be at `now_ms`, when it has moved.
    """
    topic, ledgers, cursor = state.topics[t], state.ledgers, state.cursors[c]
    if cursor[C_PLANNED] == 0 or decision == 0:
        return False
    reached = place_of(topic, ledgers, ledger, entry)
    least = place_of(topic, ledgers, cursor[C_PLANNED_LEDGER], cursor[C_PLANNED_ENTRY])
    end_ledger, end_entry = _end_of_move(state, t, c, decision, now_ms)
    return least <= reached <= place_of(topic, ledgers, end_ledger, end_entry)


@compiled_part
def _end_of_move(state: State, t: int, c: int, decision: int, now_ms: int) -> tuple[int, int]:
    """The furthest position that the eviction may take a cursor to by `now_ms`; (−1, −1): it does not move it."""
    topic, cursor = state.topics[t], state.cursors[c]
    if decision == TIME and state.scalars[S_PRECISE] == 1 and not _evicts_nothing(topic, state.scalars):
        ledger, entry = _newest_before(state, t, now_ms - precise_target_s(topic) * MS_PER_S)
        return _slide(topic, state.ledgers, cursor, state.words, ledger, entry)
    return (cursor[C_PLANNED_LEDGER], cursor[C_PLANNED_ENTRY]) if cursor[C_PLANNED] == 1 else (-1, -1)


@compiled_part
def precise_target_s(topic: Array) -> int:
    """Age down to which a precise age eviction goes: nine tenths of the limit, in whole seconds."""
    return int(0.9 * topic[T_TIME_LIMIT])


@compiled_part
def _evicts_nothing(topic: Array, scalars: Array) -> bool:
    """4.0 drops nothing at a limit of 1 s (§2.6)."""
    return 0 < scalars[S_VERSION] < FIRST_4_1 and precise_target_s(topic) == 0


@compiled_part
def _planned_keys(cursors: Array, rows: Array) -> Array:
    keys = np.empty((rows.shape[0], 2), dtype=np.int64)
    for position in range(rows.shape[0]):
        keys[position, 0] = cursors[rows[position], C_PERSISTED_LEDGER]
        keys[position, 1] = cursors[rows[position], C_PERSISTED_ENTRY]
    return keys


@compiled_part
def _plan_size(state: State, t: int) -> None:
    """Skip entries of the slowest cursor until the size is below target, the same cursor comes twice, or nothing can be skipped."""
    topic, ledgers, cursors = state.topics[t], state.ledgers, state.cursors
    limit, previous = topic[T_SIZE_LIMIT], NONE
    topic[T_TARGET] = int(0.9 * limit)
    root = slowest(topic, state.heap)
    while root != NONE:
        cursor = cursors[root]
        size = size_behind(topic, ledgers, cursor[C_PLANNED_LEDGER], cursor[C_PLANNED_ENTRY])
        topic[T_SIZE_PLANNED] = size
        unacked = backlog_entries(topic, ledgers, cursor) - cursor[C_PLANNED_ENTRIES]
        skip = entries_to_skip(size, limit, unacked, state.scalars[S_VERSION])
        if root == previous or skip <= 0:
            return
        place = max(place_of(topic, ledgers, cursor[C_PLANNED_LEDGER], cursor[C_PLANNED_ENTRY]), first_entries_before(topic, ledgers))
        row = row_of_place(topic, ledgers, place + skip - 1)
        if row < 0:
            row = first_row(topic, T_LEDGERS) + topic[T_LEDGERS_USED] - 1
            _plan_move(state, t, root, ledgers[row, G_LEDGER], ledgers[row, G_ENTRIES] - 1)
        else:
            _plan_move(state, t, root, ledgers[row, G_LEDGER], place + skip - 1 - ledgers[row, G_ENTRIES_BEFORE])
        previous = root
        root = slowest(topic, state.heap)


@compiled_part
def entries_to_skip(size: int, limit: int, unacked: int, version: int) -> int:
    """Entries that one step of a size eviction skips: 0 if the size is not above 0.9 · limit. Doubles, as in Pulsar.

    `version` 0 (unknown) counts as the newest.
    """
    truncates = version == 0 or TRUNCATES_4_0 <= version < FIRST_4_1 or version >= TRUNCATES_4_2
    if truncates:
        target = int(0.9 * limit)
        return int((size - target) * float(unacked) / size) if size > target else 0
    exact_target = 0.9 * limit
    return int((size - exact_target) / size * unacked) if size > exact_target else 0


@compiled_part
def _plan_move(state: State, t: int, c: int, ledger: int, entry: int) -> None:
    """The plan's next position of a cursor; it slides over deleted entries that follow. The heap follows at once."""
    topic, ledgers, cursor = state.topics[t], state.ledgers, state.cursors[c]
    ledger, entry = _slide(topic, ledgers, cursor, state.words, ledger, entry)
    cursor[C_PLANNED] = 1
    cursor[C_PLANNED_LEDGER], cursor[C_PLANNED_ENTRY] = ledger, entry
    base = first_entries_before(topic, ledgers)
    passed = place_of(topic, ledgers, ledger, entry) - max(place_of(topic, ledgers, cursor[C_LEDGER], cursor[C_ENTRY]), base)
    deleted = count_deleted(cursor, state.words, ledger, entry)
    cursor[C_PLANNED_ENTRIES] = max(0, passed - deleted - cursor[C_DELETED_UNKNOWN])
    if cursor[C_HEAP_POSITION] != NONE:
        cursor[C_PERSISTED_LEDGER], cursor[C_PERSISTED_ENTRY] = ledger, entry
        moved(topic, state.heap, state.cursors, c)


@compiled_part
def _slide(topic: Array, ledgers: Array, cursor: Array, words: Blocks, ledger: int, entry: int) -> tuple[int, int]:
    """A position, moved over the run of deleted entries that begins right behind it, across ledgers (§2.2)."""
    row = find_ledger(topic, ledgers, ledger)
    if row < 0:
        return ledger, entry
    end = first_row(topic, T_LEDGERS) + topic[T_LEDGERS_USED]
    while True:
        entry = deleted_run(cursor, words, ledgers[row, G_LEDGER], entry, ledgers[row, G_ENTRIES])
        is_at_end = entry >= ledgers[row, G_ENTRIES] - 1
        if not is_at_end or row + 1 == end or not is_deleted(cursor, words, ledgers[row + 1, G_LEDGER], 0):
            return ledgers[row, G_LEDGER], entry
        row += 1
        entry = -1


@compiled_part
def _plan_closed_ledgers(state: State, t: int, now_ms: int) -> None:
    """Not precise: the slowest cursor leaves closed ledgers older than the whole limit, and ledgers that are gone, one after the other."""
    topic, ledgers, cursors = state.topics[t], state.ledgers, state.cursors
    topic[T_TARGET] = topic[T_TIME_LIMIT]
    end = first_row(topic, T_LEDGERS) + topic[T_LEDGERS_USED]
    root = slowest(topic, state.heap)
    while root != NONE:
        cursor = cursors[root]
        position = lower_bound(topic, ledgers, cursor[C_PLANNED_LEDGER])
        row = first_row(topic, T_LEDGERS) + position
        if row >= end:
            break
        if ledgers[row, G_LEDGER] == cursor[C_PLANNED_LEDGER]:
            is_old = ledgers[row, G_CLOSED] == 1 and now_ms - ledgers[row, G_CLOSE_MS] > topic[T_TIME_LIMIT] * MS_PER_S
            row += 1
            if not is_old or row >= end:
                break
        if not _may_jump(topic, ledgers, cursor, ledgers[row, G_LEDGER]):
            break
        _plan_move(state, t, root, ledgers[row, G_LEDGER], -1)
        root = slowest(topic, state.heap)
    root = slowest(topic, state.heap)
    if root != NONE:
        topic[T_SIZE_PLANNED] = size_behind(topic, ledgers, cursors[root, C_PLANNED_LEDGER], cursors[root, C_PLANNED_ENTRY])


@compiled_part
def _may_jump(topic: Array, ledgers: Array, cursor: Array, target: int) -> bool:
    """Whether a cursor may go before ledger `target`: beyond what is confirmed only from the end of its ledger, if that is there (§2.2)."""
    if target <= topic[T_CONFIRMED_LEDGER]:
        return True
    row = find_ledger(topic, ledgers, cursor[C_PLANNED_LEDGER])
    return row >= 0 and cursor[C_PLANNED_ENTRY] + 1 >= ledgers[row, G_ENTRIES]


@compiled_part
def _plan_precise(state: State, t: int, now_ms: int) -> None:
    """Precise: every subscription drops what is older than nine tenths of the limit (§2.6)."""
    topic, cursors = state.topics[t], state.cursors
    topic[T_TARGET] = precise_target_s(topic)
    ledger, entry = _newest_before(state, t, now_ms - topic[T_TARGET] * MS_PER_S)
    if _evicts_nothing(topic, state.scalars):
        ledger = -1
    c = topic[T_FIRST_CURSOR]
    while c != NONE:
        if ledger >= 0 and cursors[c, C_OWNER] == 0 and is_behind(cursors[c], ledger, entry):
            _plan_move(state, t, c, ledger, entry)
        c = cursors[c, C_NEXT_OF_TOPIC]
    root = slowest(topic, state.heap)
    if root != NONE:
        topic[T_SIZE_PLANNED] = size_behind(topic, state.ledgers, cursors[root, C_PLANNED_LEDGER], cursors[root, C_PLANNED_ENTRY])


@compiled_part
def _newest_before(state: State, t: int, cutoff_ms: int) -> tuple[int, int]:
    """Position of the newest entry published before `cutoff_ms`, or the end of the last ledger of the closed run at the front whose close
    is; (−1, −1) if there is none. Publish times are taken to be in order, as the broker's binary search does.
    """
    topic, marks, ledgers = state.topics[t], state.marks, state.ledgers
    ledger, entry = newest_before(topic, marks, cutoff_ms)
    for row in range(first_row(topic, T_LEDGERS), first_row(topic, T_LEDGERS) + topic[T_LEDGERS_USED]):
        if ledgers[row, G_CLOSED] == 0 or ledgers[row, G_CLOSE_MS] >= cutoff_ms:
            break
        if ledgers[row, G_LEDGER] > ledger:
            ledger, entry = ledgers[row, G_LEDGER], ledgers[row, G_ENTRIES] - 1
    return ledger, entry
