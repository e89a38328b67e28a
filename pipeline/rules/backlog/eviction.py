"""What an eviction should do, by the rules of the broker's version (§2.6): planned on a copy of nothing but positions, never applied.

The mark-deletes that follow in the log are what the broker did; rows show both.
"""

from typing import Any

import numpy as np

from pipeline.rules.array import Array
from pipeline.rules.backlog.layout import NO_MOVE, SIZE, TIME
from pipeline.rules.blocks import Blocks
from pipeline.rules.broker.cursors import backlog_entries, is_behind, is_of_subscription, unknown_not_left
from pipeline.rules.broker.deleted import count_deleted, deleted_run, is_deleted
from pipeline.rules.broker.heap import moved, slowest
from pipeline.rules.broker.in_flight import FIRST_4_1, TOLD_4_0, TOLD_4_2
from pipeline.rules.broker.layout import NONE
from pipeline.rules.broker.ledgers import find_ledger, first_entries_before, lower_bound, place_of, row_of_place, size_behind
from pipeline.rules.broker.marks import newest_before
from pipeline.rules.compiled import allocating_part, compiled_part
from pipeline.rules.records import Record, Records
from pipeline.rules.segments import USED, first_row

#: From these on a size target is truncated to a long first, and of n = (s − target) · unacked / s the product comes first (#25624).
TRUNCATES_4_0, TRUNCATES_4_2 = TOLD_4_0, TOLD_4_2
MS_PER_S = 1000


@allocating_part
def plan_eviction(broker: Any, backlog: Any, t: int, decision: int, now_ms: int) -> None:
    """Fill the plan columns of the topic and its cursors. Positions and the heap are left as they were."""
    c = broker.topics[t].first_cursor
    while c != NONE:
        cursor, move = broker.cursors[c], backlog.cursor_moves[c]
        move.planned = 0
        move.from_ledger, move.from_entry = cursor.ledger, cursor.entry
        move.planned_ledger, move.planned_entry, move.planned_entries = cursor.ledger, cursor.entry, 0
        c = cursor.next_of_topic
    # The rules look at the heap as it changes: the plan moves the real one, and puts it back.
    topic = broker.topics[t]
    first, used = first_row(topic.heap), topic.heap[USED]
    kept = broker.heap[first : first + used].copy()
    positions = _persisted_positions(broker.cursors, kept)
    if decision == SIZE:
        _plan_size(broker, backlog, t)
    elif broker.settings[0].precise_check == 1:
        _plan_precise(broker, backlog, t, now_ms)
    else:
        _plan_closed_ledgers(broker, backlog, t, now_ms)
    for position in range(used):
        c = kept[position].cursor
        broker.heap[first + position].cursor = c
        broker.cursors[c].heap_position = position
        broker.cursors[c].persisted_ledger, broker.cursors[c].persisted_entry = positions[position, 0], positions[position, 1]


@compiled_part
def forget_plan(broker: Any, backlog: Any, t: int) -> None:
    """No cursor of the topic is planned to move."""
    c = broker.topics[t].first_cursor
    while c != NONE:
        backlog.cursor_moves[c] = NO_MOVE[0]
        c = broker.cursors[c].next_of_topic


@compiled_part
def reaches(broker: Any, backlog: Any, t: int, c: int, decision: int, ledger: int, entry: int, now_ms: int) -> bool:
    """Whether (`ledger`, `entry`) is no further than where the eviction takes cursor `c`, if it moves it at all."""
    topic, cursor = broker.topics[t], broker.cursors[c]
    end_ledger, end_entry = _end_of_move(broker, backlog, t, c, decision, now_ms)
    if end_ledger < 0 or (end_ledger == cursor.ledger and end_entry == cursor.entry):
        return False
    if ledger == end_ledger:
        return entry <= end_entry
    return ledger < end_ledger or place_of(topic, broker.ledgers, ledger, entry) <= place_of(topic, broker.ledgers, end_ledger, end_entry)


@compiled_part
def reaches_target(broker: Any, backlog: Any, t: int, c: int, decision: int, ledger: int, entry: int, now_ms: int) -> bool:
    """Whether an eviction's move of a cursor to (`ledger`, `entry`) ends where the plan ends. A precise age eviction reads the clock again
    while it searches: it may end anywhere between the plan's position and what the plan would be at `now_ms`, when it has moved.
    """
    topic, ledgers, move = broker.topics[t], broker.ledgers, backlog.cursor_moves[c]
    if move.planned == 0 or decision == 0:
        return False
    reached = place_of(topic, ledgers, ledger, entry)
    least = place_of(topic, ledgers, move.planned_ledger, move.planned_entry)
    end_ledger, end_entry = _end_of_move(broker, backlog, t, c, decision, now_ms)
    return least <= reached <= place_of(topic, ledgers, end_ledger, end_entry)


@compiled_part
def _end_of_move(broker: Any, backlog: Any, t: int, c: int, decision: int, now_ms: int) -> tuple[int, int]:
    """The furthest position that the eviction may take a cursor to by `now_ms`; (−1, −1): it does not move it."""
    topic, cursor, move = broker.topics[t], broker.cursors[c], backlog.cursor_moves[c]
    if decision == TIME and broker.settings[0].precise_check == 1 and not _evicts_nothing(topic, broker.settings[0]):
        ledger, entry = _newest_before(broker, t, now_ms - precise_target_s(topic) * MS_PER_S)
        return _slide(topic, broker.ledgers, cursor, broker.words, ledger, entry)
    return (move.planned_ledger, move.planned_entry) if move.planned == 1 else (-1, -1)


@compiled_part
def precise_target_s(topic: Record) -> int:
    """Age down to which a precise age eviction goes: nine tenths of the limit, in whole seconds."""
    return int(0.9 * topic.time_limit)


@compiled_part
def _evicts_nothing(topic: Record, settings: Record) -> bool:
    """4.0 drops nothing at a limit of 1 s (§2.6)."""
    return 0 < settings.version < FIRST_4_1 and precise_target_s(topic) == 0


@allocating_part
def _persisted_positions(cursors: Records, heap: Records) -> Array:
    """Of the cursors of a heap: int64 [n, 2]."""
    positions = np.empty((heap.shape[0], 2), dtype=np.int64)
    for k in range(heap.shape[0]):
        cursor = cursors[heap[k].cursor]
        positions[k, 0], positions[k, 1] = cursor.persisted_ledger, cursor.persisted_entry
    return positions


@compiled_part
def _plan_size(broker: Any, backlog: Any, t: int) -> None:
    """Skip entries of the slowest cursor until the size is below target, the same cursor comes twice, or nothing can be skipped."""
    topic, ledgers, cursors, moves = broker.topics[t], broker.ledgers, broker.cursors, backlog.cursor_moves
    pending, limit, previous = backlog.pending_decisions[t], topic.size_limit, NONE
    pending.target = int(0.9 * limit)
    root = slowest(topic, broker.heap)
    while root != NONE:
        cursor, move = cursors[root], moves[root]
        size = size_behind(topic, ledgers, move.planned_ledger, move.planned_entry)
        pending.size_planned = size
        unacked = backlog_entries(topic, ledgers, cursor) - move.planned_entries
        skip = entries_to_skip(size, limit, unacked, broker.settings[0].version)
        if root == previous or skip <= 0:
            return
        place = max(place_of(topic, ledgers, move.planned_ledger, move.planned_entry), first_entries_before(topic, ledgers))
        row = row_of_place(topic, ledgers, place + skip - 1)
        if row < 0:
            row = first_row(topic.ledgers) + topic.ledgers[USED] - 1
            _plan_move(broker, backlog, t, root, ledgers[row].ledger, ledgers[row].entries - 1)
        else:
            _plan_move(broker, backlog, t, root, ledgers[row].ledger, place + skip - 1 - ledgers[row].entries_before)
        previous = root
        root = slowest(topic, broker.heap)


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
def _plan_move(broker: Any, backlog: Any, t: int, c: int, ledger: int, entry: int) -> None:
    """The plan's next position of a cursor; it slides over deleted entries that follow. The heap follows at once."""
    topic, ledgers, cursor, move = broker.topics[t], broker.ledgers, broker.cursors[c], backlog.cursor_moves[c]
    ledger, entry = _slide(topic, ledgers, cursor, broker.words, ledger, entry)
    move.planned = 1
    move.planned_ledger, move.planned_entry = ledger, entry
    base = first_entries_before(topic, ledgers)
    place = place_of(topic, ledgers, ledger, entry)
    passed = place - max(place_of(topic, ledgers, cursor.ledger, cursor.entry), base)
    deleted = count_deleted(cursor, broker.words, ledger, entry)
    unnamed = unknown_not_left(cursor, topic.end_entries - place, cursor.deleted - deleted)
    move.planned_entries = max(0, passed - deleted - unnamed)
    if cursor.heap_position != NONE:
        cursor.persisted_ledger, cursor.persisted_entry = ledger, entry
        moved(topic, broker.heap, broker.cursors, c)


@compiled_part
def _slide(topic: Record, ledgers: Records, cursor: Record, words: Blocks, ledger: int, entry: int) -> tuple[int, int]:
    """A position, moved over the run of deleted entries that begins right behind it, across ledgers (§2.2)."""
    row = find_ledger(topic, ledgers, ledger)
    if row < 0:
        return ledger, entry
    end = first_row(topic.ledgers) + topic.ledgers[USED]
    while True:
        entry = deleted_run(cursor, words, ledgers[row].ledger, entry, ledgers[row].entries)
        is_at_end = entry >= ledgers[row].entries - 1
        if not is_at_end or row + 1 == end or not is_deleted(cursor, words, ledgers[row + 1].ledger, 0):
            return ledgers[row].ledger, entry
        row += 1
        entry = -1


@compiled_part
def _plan_closed_ledgers(broker: Any, backlog: Any, t: int, now_ms: int) -> None:
    """Not precise: the slowest cursor leaves closed ledgers older than the whole limit, and ledgers that are gone, one after the other."""
    topic, ledgers, moves, pending = broker.topics[t], broker.ledgers, backlog.cursor_moves, backlog.pending_decisions[t]
    pending.target = topic.time_limit
    end = first_row(topic.ledgers) + topic.ledgers[USED]
    root = slowest(topic, broker.heap)
    while root != NONE:
        move = moves[root]
        position = lower_bound(topic, ledgers, move.planned_ledger)
        row = first_row(topic.ledgers) + position
        if row >= end:
            break
        if ledgers[row].ledger == move.planned_ledger:
            is_old = ledgers[row].closed == 1 and now_ms - ledgers[row].close_ms > topic.time_limit * MS_PER_S
            row += 1
            if not is_old or row >= end:
                break
        if not _may_jump(topic, ledgers, move, ledgers[row].ledger):
            break
        _plan_move(broker, backlog, t, root, ledgers[row].ledger, -1)
        root = slowest(topic, broker.heap)
    root = slowest(topic, broker.heap)
    if root != NONE:
        pending.size_planned = size_behind(topic, ledgers, moves[root].planned_ledger, moves[root].planned_entry)


@compiled_part
def _may_jump(topic: Record, ledgers: Records, move: Record, target: int) -> bool:
    """Whether a cursor may go before ledger `target`: beyond what is confirmed only from the end of its ledger, if that is there (§2.2)."""
    if target <= topic.confirmed_ledger:
        return True
    row = find_ledger(topic, ledgers, move.planned_ledger)
    return row >= 0 and move.planned_entry + 1 >= ledgers[row].entries


@compiled_part
def _plan_precise(broker: Any, backlog: Any, t: int, now_ms: int) -> None:
    """Precise: every subscription drops what is older than nine tenths of the limit (§2.6)."""
    topic, cursors, moves, pending = broker.topics[t], broker.cursors, backlog.cursor_moves, backlog.pending_decisions[t]
    pending.target = precise_target_s(topic)
    ledger, entry = _newest_before(broker, t, now_ms - pending.target * MS_PER_S)
    if _evicts_nothing(topic, broker.settings[0]):
        ledger = -1
    c = topic.first_cursor
    while c != NONE:
        if ledger >= 0 and is_of_subscription(cursors[c]) and is_behind(cursors[c], ledger, entry):
            _plan_move(broker, backlog, t, c, ledger, entry)
        c = cursors[c].next_of_topic
    root = slowest(topic, broker.heap)
    if root != NONE:
        pending.size_planned = size_behind(topic, broker.ledgers, moves[root].planned_ledger, moves[root].planned_entry)


@compiled_part
def _newest_before(broker: Any, t: int, cutoff_ms: int) -> tuple[int, int]:
    """Position of the newest entry published before `cutoff_ms`, or the end of the last ledger of the closed run at the front whose close
    is; (−1, −1) if there is none. Publish times are taken to be in order, as the broker's binary search does.
    """
    topic, marks, ledgers = broker.topics[t], broker.marks, broker.ledgers
    ledger, entry = newest_before(topic, marks, cutoff_ms)
    for row in range(first_row(topic.ledgers), first_row(topic.ledgers) + topic.ledgers[USED]):
        if ledgers[row].closed == 0 or ledgers[row].close_ms >= cutoff_ms:
            break
        if ledgers[row].ledger > ledger:
            ledger, entry = ledgers[row].ledger, ledgers[row].entries - 1
    return ledger, entry
