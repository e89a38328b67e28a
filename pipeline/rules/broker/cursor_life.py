"""Cursors are opened, met without their opening, and closed."""

from typing import Any

from pipeline.rules import fields
from pipeline.rules.array import Array
from pipeline.rules.blocks import Blocks
from pipeline.rules.broker.cursors import backlog_entries
from pipeline.rules.broker.deleted import forget_deleted, pass_deleted
from pipeline.rules.broker.heap import moved, push, remove
from pipeline.rules.broker.layout import NO_CURSOR, NONE
from pipeline.rules.compiled import compiled_part
from pipeline.rules.records import Record, Records
from pipeline.rules.segments import BEGIN, CAPACITY, DROPPED, USED

#: Ledger of a position beyond every ledger: where a cursor stands of which nothing is known.
_END_OF_LOG = 2**62


@compiled_part
def forget_cursor(cursors: Records, s: int) -> None:
    """Nothing is open in row `s`. The entries that it had deleted stay: the broker keeps those over an unload."""
    words, deleted = cursors[s].words, cursors[s].deleted
    begin, dropped, used, capacity = words[BEGIN], words[DROPPED], words[USED], words[CAPACITY]
    cursors[s] = NO_CURSOR[0]
    words[BEGIN], words[DROPPED], words[USED], words[CAPACITY] = begin, dropped, used, capacity
    cursors[s].deleted = deleted


@compiled_part
def end_cursor(cursors: Records, s: int, now_us: int, losses: int) -> None:
    """The cursor in row `s` is known to be gone: threads of the broker may still write of it, its last consumer among them."""
    forget_cursor(cursors, s)
    cursors[s].gone_at, cursors[s].losses_at_open = now_us, losses


@compiled_part
def is_gone(cursor: Record, settings: Record) -> bool:
    """Of a cursor that is not open: whether it ended, and nothing was lost since that may have been another one's opening."""
    return cursor.gone_at > 0 and cursor.losses_at_open == settings.losses


@compiled_part
def meet_cursor(broker: Any, t: int, s: int, now_us: int) -> None:
    """A cursor is met without its opening: taken to be durable and to stand at the end of the log."""
    topic, cursor = broker.topics[t], broker.cursors[s]
    _begin_cursor(broker, t, s, now_us)
    cursor.durable = 1
    cursor.ledger, cursor.entry = _END_OF_LOG, -1
    cursor.persisted_ledger, cursor.persisted_entry = _END_OF_LOG, -1
    cursor.opened_end = topic.end_entries
    push(topic, broker.heap, broker.heap_ends, broker.cursors, s)


@compiled_part
def is_of_nowhere(cursor: Record) -> bool:
    """Whether the cursor was met, and nobody said since where it stands."""
    return bool(cursor.ledger == _END_OF_LOG)


@compiled_part
def open_cursor(broker: Any, t: int, s: int, event: Array) -> None:
    """`cursor_open`: a durable one joins the heap at its position."""
    if broker.cursors[s].open == 1:
        close_cursor(broker, t, s, event[fields.TS])
    topic, cursor = broker.topics[t], broker.cursors[s]
    _begin_cursor(broker, t, s, event[fields.TS])
    _keep_deleted(cursor, broker.words, event)
    cursor.began_complete, cursor.losses_at_open = 1, broker.settings[0].losses
    cursor.durable, cursor.cursor_kind = event[fields.DURABLE], event[fields.CURSOR_KIND]
    cursor.ledger, cursor.entry = event[fields.LEDGER], event[fields.ENTRY]
    cursor.persisted_ledger, cursor.persisted_entry = event[fields.LEDGER], event[fields.ENTRY]
    cursor.opened_end = topic.end_entries
    cursor.opened_backlog = backlog_entries(topic, broker.ledgers, cursor)
    if cursor.durable == 1:
        push(topic, broker.heap, broker.heap_ends, broker.cursors, s)


@compiled_part
def _keep_deleted(cursor: Record, words: Blocks, event: Array) -> None:
    """Of a cursor that comes back as a snapshot: the entries known to be deleted behind it, if they are as many as the event reports or it
    reports none; else that many of which nobody knows which.
    """
    pass_deleted(cursor, words, event[fields.LEDGER], event[fields.ENTRY])
    is_reported = fields.has(event, fields.CURSOR_ENTRIES)
    if event[fields.CURSOR_SNAPSHOT] == 1 and (not is_reported or event[fields.CURSOR_ENTRIES] == cursor.deleted):
        return
    forget_deleted(cursor, words)
    cursor.deleted_unknown = event[fields.CURSOR_ENTRIES]


@compiled_part
def close_cursor(broker: Any, t: int, s: int, now_us: int) -> None:
    """Unsubscribed, or the reader is gone; also if its opening was not seen."""
    if broker.cursors[s].open == 1:
        _unchain_cursor(broker, t, s)
    end_cursor(broker.cursors, s, now_us, broker.settings[0].losses)
    forget_deleted(broker.cursors[s], broker.words)


@compiled_part
def _unchain_cursor(broker: Any, t: int, s: int) -> None:
    topic, cursors = broker.topics[t], broker.cursors
    if cursors[s].heap_position != NONE:
        remove(topic, broker.heap, cursors, s)
    before, behind = cursors[s].previous_of_topic, cursors[s].next_of_topic
    if before == NONE:
        topic.first_cursor = behind
    else:
        cursors[before].next_of_topic = behind
    if behind != NONE:
        cursors[behind].previous_of_topic = before
    topic.cursors -= 1


@compiled_part
def persist(topic: Record, heap: Records, cursors: Records, s: int, ledger: int, entry: int) -> None:
    """The mark-delete position in the metadata moved: the heap follows."""
    cursor = cursors[s]
    cursor.persisted_ledger, cursor.persisted_entry = ledger, entry
    if cursor.heap_position != NONE:
        moved(topic, heap, cursors, s)


@compiled_part
def _begin_cursor(broker: Any, t: int, s: int, now_us: int) -> None:
    topic, cursor = broker.topics[t], broker.cursors[s]
    forget_cursor(broker.cursors, s)
    cursor.open, cursor.opened_at = 1, now_us
    cursor.cumulative_ledger = NONE
    cursor.previous_of_topic, cursor.next_of_topic = NONE, topic.first_cursor
    if topic.first_cursor != NONE:
        broker.cursors[topic.first_cursor].previous_of_topic = s
    topic.first_cursor = s
    topic.cursors += 1
