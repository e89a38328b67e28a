"""Which entry is the oldest of a topic's backlog: as the broker believes (`updateOldPositionInfo`, §2.4), and truly, per cursor."""

from pipeline.machines.array import Array
from pipeline.machines.backlog.cursors import backlog_entries
from pipeline.machines.backlog.deleted import deleted_run
from pipeline.machines.backlog.heap import slowest
from pipeline.machines.backlog.layout import (
    C_ENTRY,
    C_ID,
    C_LEDGER,
    C_NEXT_OF_TOPIC,
    C_OWNER,
    C_PERSISTED_ENTRY,
    C_PERSISTED_LEDGER,
    G_CLOSE_MS,
    G_CLOSED,
    G_ENTRIES,
    G_ENTRIES_BEFORE,
    G_LEDGER,
    KNOWN,
    M_WITHIN_MS,
    NONE,
    NOTHING,
    T_FIRST_CURSOR,
    T_LEDGERS,
    T_LEDGERS_USED,
    T_OLDEST,
    T_OLDEST_ENTRY,
    T_OLDEST_LEDGER,
    T_OLDEST_MS,
    T_OLDEST_SUB,
    UNKNOWN_TIME,
)
from pipeline.machines.backlog.ledgers import find_ledger, first_entries_before, lower_bound, place_of, row_of_place
from pipeline.machines.backlog.marks import mark_of, published_ms
from pipeline.machines.blocks import Blocks
from pipeline.machines.compiled import compiled_part
from pipeline.machines.machine import NULL
from pipeline.machines.segments import first_row


@compiled_part
def update_oldest(topic: Array, ledgers: Array, marks: Blocks, heap: Array, cursors: Array, precise: bool) -> bool:
    """What a quota check, or a producer that asks to be let in, makes of the cached oldest position. False: the broker cannot read the
    entry, leaves things as they are, and the check decides nothing.
    """
    root = slowest(topic, heap)
    if root == NONE or not has_any_backlog(topic, ledgers, cursors):
        topic[T_OLDEST] = NOTHING
        return True
    ledger, entry = cursors[root, C_PERSISTED_LEDGER], cursors[root, C_PERSISTED_ENTRY]
    unchanged = topic[T_OLDEST] != NOTHING and topic[T_OLDEST_LEDGER] == ledger and topic[T_OLDEST_ENTRY] == entry
    if unchanged and topic[T_LEDGERS_USED] > 0 and ledger >= ledgers[first_row(topic, T_LEDGERS), G_LEDGER]:
        topic[T_OLDEST_SUB] = cursors[root, C_ID]
        return True
    if precise and row_of_place(topic, ledgers, place_of(topic, ledgers, ledger, entry)) < 0:
        return False
    known, time_ms = entry_time(topic, ledgers, marks, ledger, entry) if precise else close_time(topic, ledgers, ledger, entry)
    topic[T_OLDEST], topic[T_OLDEST_MS] = known, time_ms
    topic[T_OLDEST_LEDGER], topic[T_OLDEST_ENTRY], topic[T_OLDEST_SUB] = ledger, entry, cursors[root, C_ID]
    return True


@compiled_part
def has_any_backlog(topic: Array, ledgers: Array, cursors: Array) -> bool:
    """Whether a subscription (readers too, Pulsar's own cursors not) has unacknowledged entries."""
    c = topic[T_FIRST_CURSOR]
    while c != NONE:
        if cursors[c, C_OWNER] == 0 and backlog_entries(topic, ledgers, cursors[c]) > 0:
            return True
        c = cursors[c, C_NEXT_OF_TOPIC]
    return False


@compiled_part
def entry_time(topic: Array, ledgers: Array, marks: Blocks, ledger: int, entry: int) -> tuple[int, int]:
    """(KNOWN, publish time in ms) of the entry right behind a position, acknowledged or not; UNKNOWN_TIME if it was not seen published."""
    place = max(place_of(topic, ledgers, ledger, entry), first_entries_before(topic, ledgers))
    row = row_of_place(topic, ledgers, place)
    if row < 0:
        return UNKNOWN_TIME, 0
    mark = mark_of(topic, marks, ledgers[row, G_LEDGER], place - ledgers[row, G_ENTRIES_BEFORE])
    if mark < 0:
        return UNKNOWN_TIME, 0
    return KNOWN, published_ms(marks.rows[mark], place - ledgers[row, G_ENTRIES_BEFORE])


@compiled_part
def close_time(topic: Array, ledgers: Array, ledger: int, entry: int) -> tuple[int, int]:
    """(KNOWN, close time in ms) of the ledger of the entry behind a position; (NOTHING, 0) while that ledger is open (§2.4 step 5)."""
    row = find_ledger(topic, ledgers, ledger)
    if row >= 0 and ledgers[row, G_CLOSED] == 0:
        return NOTHING, 0
    if row < 0 or entry >= ledgers[row, G_ENTRIES] - 1:
        row = next_valid_ledger(topic, ledgers, ledger)
    if row < 0 or ledgers[row, G_CLOSED] == 0 or ledgers[row, G_CLOSE_MS] <= 0:
        return NOTHING, 0
    return KNOWN, ledgers[row, G_CLOSE_MS]


@compiled_part
def next_valid_ledger(topic: Array, ledgers: Array, ledger: int) -> int:
    """Row of the first ledger after `ledger` that has entries, or the last one; −1 if there is none."""
    position = lower_bound(topic, ledgers, ledger + 1)
    first, used = first_row(topic, T_LEDGERS), topic[T_LEDGERS_USED]
    if position >= used:
        return -1
    while position < used - 1 and ledgers[first + position, G_ENTRIES] == 0:
        position += 1
    return first + position


@compiled_part
def oldest_unacknowledged(topic: Array, ledgers: Array, marks: Blocks, cursor: Array, words: Blocks) -> tuple[int, int]:
    """(publish time in ms, exact to how many ms) of the cursor's own oldest unacknowledged entry, individually deleted ones skipped.

    (NULL, 0) if there is none, or it was not seen published.
    """
    place = max(place_of(topic, ledgers, cursor[C_LEDGER], cursor[C_ENTRY]), first_entries_before(topic, ledgers))
    row = row_of_place(topic, ledgers, place)
    end = first_row(topic, T_LEDGERS) + topic[T_LEDGERS_USED]
    while 0 <= row < end:
        ledger, before = ledgers[row, G_LEDGER], place - ledgers[row, G_ENTRIES_BEFORE] - 1
        last_deleted = deleted_run(cursor, words, ledger, before, ledgers[row, G_ENTRIES])
        if last_deleted + 1 < ledgers[row, G_ENTRIES]:
            mark = mark_of(topic, marks, ledger, last_deleted + 1)
            if mark < 0:
                return NULL, 0
            return published_ms(marks.rows[mark], last_deleted + 1), marks.rows[mark, M_WITHIN_MS]
        row += 1
        place = ledgers[row, G_ENTRIES_BEFORE] if row < end else place
    return NULL, 0
