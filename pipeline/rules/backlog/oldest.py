"""Which entry is the oldest of a topic's backlog: as the broker believes (`updateOldPositionInfo`, §2.4), and truly, per cursor."""

from typing import Any

from pipeline.rules.backlog.layout import KNOWN, NOTHING, UNKNOWN_TIME
from pipeline.rules.blocks import Blocks
from pipeline.rules.broker.cursors import backlog_entries, is_of_subscription
from pipeline.rules.broker.deleted import deleted_run
from pipeline.rules.broker.heap import slowest
from pipeline.rules.broker.layout import NONE
from pipeline.rules.broker.ledgers import find_ledger, first_entries_before, lower_bound, place_of, row_of_place
from pipeline.rules.broker.marks import mark_of, published_ms
from pipeline.rules.compiled import compiled_part
from pipeline.rules.records import Record, Records
from pipeline.rules.segments import USED, first_row
from schemas.outcomes import NULL


@compiled_part
def update_oldest(check: Record, broker: Any, t: int) -> bool:
    """What a quota check, or a producer that asks to be let in, makes of the cached oldest position. False: the broker cannot read the
    entry, leaves things as they are, and the check decides nothing.
    """
    topic, ledgers, cursors = broker.topics[t], broker.ledgers, broker.cursors
    precise = broker.settings[0].precise_check == 1
    root = slowest(topic, broker.heap)
    if root == NONE or not has_any_backlog(topic, ledgers, cursors):
        check.oldest = NOTHING
        return True
    ledger, entry = cursors[root].persisted_ledger, cursors[root].persisted_entry
    unchanged = check.oldest != NOTHING and check.oldest_ledger == ledger and check.oldest_entry == entry
    if unchanged and topic.ledgers[USED] > 0 and ledger >= ledgers[first_row(topic.ledgers)].ledger:
        check.oldest_sub = broker.subscriptions[root].id
        return True
    if precise and row_of_place(topic, ledgers, place_of(topic, ledgers, ledger, entry)) < 0:
        return False
    known, time_ms = entry_time(topic, ledgers, broker.marks, ledger, entry) if precise else close_time(topic, ledgers, ledger, entry)
    check.oldest, check.oldest_ms = known, time_ms
    check.oldest_ledger, check.oldest_entry, check.oldest_sub = ledger, entry, broker.subscriptions[root].id
    return True


@compiled_part
def has_any_backlog(topic: Record, ledgers: Records, cursors: Records) -> bool:
    """Whether a subscription (readers too, Pulsar's own cursors not) has unacknowledged entries."""
    c = topic.first_cursor
    while c != NONE:
        if is_of_subscription(cursors[c]) and backlog_entries(topic, ledgers, cursors[c]) > 0:
            return True
        c = cursors[c].next_of_topic
    return False


@compiled_part
def entry_time(topic: Record, ledgers: Records, marks: Blocks, ledger: int, entry: int) -> tuple[int, int]:
    """(KNOWN, publish time in ms) of the entry right behind a position, acknowledged or not; UNKNOWN_TIME if it was not seen published."""
    place = max(place_of(topic, ledgers, ledger, entry), first_entries_before(topic, ledgers))
    row = row_of_place(topic, ledgers, place)
    if row < 0:
        return UNKNOWN_TIME, 0
    mark = mark_of(topic, marks, ledgers[row].ledger, place - ledgers[row].entries_before)
    if mark < 0:
        return UNKNOWN_TIME, 0
    return KNOWN, published_ms(marks.rows[mark], place - ledgers[row].entries_before)


@compiled_part
def close_time(topic: Record, ledgers: Records, ledger: int, entry: int) -> tuple[int, int]:
    """(KNOWN, close time in ms) of the ledger of the entry behind a position; (NOTHING, 0) while that ledger is the last (§2.4 step 5).

    The last is open, or it was closed a moment ago and the next is not there yet.
    """
    row = find_ledger(topic, ledgers, ledger)
    is_last = row == first_row(topic.ledgers) + topic.ledgers[USED] - 1
    if row >= 0 and (is_last or ledgers[row].closed == 0):
        return NOTHING, 0
    if row < 0 or entry >= ledgers[row].entries - 1:
        row = next_valid_ledger(topic, ledgers, ledger)
    if row < 0 or ledgers[row].closed == 0 or ledgers[row].close_ms <= 0:
        return NOTHING, 0
    return KNOWN, ledgers[row].close_ms


@compiled_part
def next_valid_ledger(topic: Record, ledgers: Records, ledger: int) -> int:
    """Row of the first ledger after `ledger` that has entries, or the last one; −1 if there is none."""
    position = lower_bound(topic, ledgers, ledger + 1)
    first, used = first_row(topic.ledgers), topic.ledgers[USED]
    if position >= used:
        return -1
    while position < used - 1 and ledgers[first + position].entries == 0:
        position += 1
    return first + position


@compiled_part
def oldest_unacknowledged(topic: Record, ledgers: Records, marks: Blocks, cursor: Record, words: Blocks) -> tuple[int, int]:
    """(publish time in ms, exact to how many ms) of the cursor's own oldest unacknowledged entry, individually deleted ones skipped.

    (NULL, 0) if there is none, it was not seen published, or it is not known which entries are deleted.
    """
    if cursor.deleted_unknown > 0:
        return NULL, 0
    place = max(place_of(topic, ledgers, cursor.ledger, cursor.entry), first_entries_before(topic, ledgers))
    row = row_of_place(topic, ledgers, place)
    end = first_row(topic.ledgers) + topic.ledgers[USED]
    while 0 <= row < end:
        ledger, before = ledgers[row].ledger, place - ledgers[row].entries_before - 1
        last_deleted = deleted_run(cursor, words, ledger, before, ledgers[row].entries)
        if last_deleted + 1 < ledgers[row].entries:
            mark = mark_of(topic, marks, ledger, last_deleted + 1)
            if mark < 0:
                return NULL, 0
            return published_ms(marks.rows[mark], last_deleted + 1), marks.rows[mark].within_ms
        row += 1
        place = ledgers[row].entries_before if row < end else place
    return NULL, 0
