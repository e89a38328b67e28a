"""What the broker says it holds of a cursor (`state`, from version 1.2 on): books that missed something are put right by it.

Nothing of a cursor changes whose whole life is in the log.
"""

from typing import Any

from pipeline.rules import fields
from pipeline.rules.array import Array
from pipeline.rules.broker.cursor_life import is_gone, is_of_nowhere, meet_cursor, persist
from pipeline.rules.broker.cursors import backlog_entries, is_whole
from pipeline.rules.broker.deleted import forget_deleted, pass_deleted
from pipeline.rules.broker.dispatchers import ensure_open
from pipeline.rules.broker.heap import remove
from pipeline.rules.broker.layout import NONE, SUB_TYPE_COUNT
from pipeline.rules.broker.ledgers import find_ledger, first_entries_before, grow_ledger, meet_ledger, place_of, storage_size
from pipeline.rules.broker.readings import move_reading, read_at
from pipeline.rules.broker.topics import meet_topic
from pipeline.rules.compiled import compiled_part
from pipeline.rules.integers import multiply_divide
from pipeline.rules.records import Record, Records
from pipeline.rules.segments import USED, first_row


@compiled_part
def is_news(topic: Record, cursor: Record, settings: Record, event: Array) -> bool:
    """Whether a `state` tells more than the log did: numbers of one instant, of a cursor that is there, whose life is not all in the log.

    One that is not open comes with its opening where the topic's life is whole. One that may be gone counts only if nothing happened since
    the broker was asked.
    """
    if fields.has(event, fields.IS_MOVING) or is_whole(cursor, settings) == 1:
        return False
    if cursor.open == 1:
        return True
    if _is_whole_topic(topic, settings):
        return False
    return cursor.gone_at == 0 or (fields.has(event, fields.IS_EXACT) and not is_gone(cursor, settings))


@compiled_part
def _is_whole_topic(topic: Record, settings: Record) -> bool:
    return bool(topic.began_complete == 1 and topic.losses_at_start == settings.losses)


@compiled_part
def stated_delivered(topic: Record, ledgers: Records, event: Array) -> int:
    """Entries of the backlog that consumers have: those before the read position that are not acknowledged, in the replay queue, or held.

    −1: the log does not know how many lie between the two positions. Where the topic ends plays no part.
    """
    between = _entries_between(topic, ledgers, event)
    if between < 0:
        return -1
    elsewhere = event[fields.DELETED_ENTRIES] + event[fields.REPLAY] + event[fields.DELAYED]
    return min(max(0, between - elsewhere), event[fields.BACKLOG_ENTRIES])


@compiled_part
def _entries_between(topic: Record, ledgers: Records, event: Array) -> int:
    """Behind the mark-delete position and before the read position; −1 where a ledger of these is not known."""
    marked, read = event[fields.LEDGER], event[fields.READ_LEDGER]
    if marked == read:
        return max(0, event[fields.READ_ENTRY] - 1 - event[fields.ENTRY])
    is_trimmed = topic.began_complete == 1 and topic.ledgers[USED] > 0 and marked < ledgers[first_row(topic.ledgers)].ledger
    if not is_trimmed and find_ledger(topic, ledgers, marked) < 0:
        return -1
    if event[fields.READ_ENTRY] > 0 and find_ledger(topic, ledgers, read) < 0:
        return -1
    before_read = place_of(topic, ledgers, read, event[fields.READ_ENTRY] - 1)
    behind_mark = max(place_of(topic, ledgers, marked, event[fields.ENTRY]), first_entries_before(topic, ledgers))
    return max(0, before_read - behind_mark)


@compiled_part
def is_news_of_topic(topic: Record, settings: Record, event: Array) -> bool:
    """Whether a `topic_state` tells more than the log did: of a topic that is there, whose life is not all in the log."""
    return bool(topic.alive == 1) and not _is_whole_topic(topic, settings) and not fields.has(event, fields.TOPIC_IS_MOVING)


@compiled_part
def put_topic_right(topic: Record, ledgers: Records, ends: Array, event: Array) -> None:
    """Entries up to the last confirmed position are there, also those of which the publish is lost.

    Of what size they are is known where no ledger is missing: then all of the topic's are as many as the broker says. The position may lie
    in a ledger that was trimmed since.
    """
    ledger = event[fields.LEDGER]
    is_trimmed = ledger <= topic.confirmed_ledger and find_ledger(topic, ledgers, ledger) < 0
    if event[fields.ENTRY] < 0 or is_trimmed or event[fields.TOPIC_ENTRIES] <= event[fields.ENTRY]:
        return
    row = meet_ledger(topic, ledgers, ends, ledger)
    more = event[fields.ENTRY] + 1 - ledgers[row].entries
    if more <= 0:
        return
    first = first_entries_before(topic, ledgers)
    is_all = topic.end_entries + more - first == event[fields.TOPIC_ENTRIES]
    size = max(0, event[fields.TOPIC_BYTES] - storage_size(topic, ledgers)) if is_all else 0
    grow_ledger(topic, ledgers, row, more, size)
    topic.confirmed_ledger = max(topic.confirmed_ledger, ledger)


@compiled_part
def put_right(broker: Any, t: int, s: int, event: Array) -> None:
    """The cursor and where its subscription reads are as the broker says."""
    topic, cursor = broker.topics[t], broker.cursors[s]
    if cursor.open == 0:
        meet_topic(topic)
        meet_cursor(broker, t, s, event[fields.TS])
    is_met = is_of_nowhere(cursor)
    before = backlog_entries(topic, broker.ledgers, cursor)
    _put_position_right(cursor, broker.words, event)
    if is_met:
        _begin(broker, t, s)
    else:
        _explain(cursor, before - backlog_entries(topic, broker.ledgers, cursor))
    if cursor.began_complete == 0:
        _put_kind_right(broker, t, s, event)
    delivered = stated_delivered(topic, broker.ledgers, event)
    _put_reading_right(broker.readings[s], topic, broker.ledgers, event)
    _put_type_right(broker.dispatchers[s], broker.subscriptions[s], broker.settings[0], event)
    if delivered >= 0:
        _put_in_flight_right(cursor, delivered)


@compiled_part
def _put_position_right(cursor: Record, words: Any, event: Array) -> None:
    cursor.ledger, cursor.entry = event[fields.LEDGER], event[fields.ENTRY]
    pass_deleted(cursor, words, cursor.ledger, cursor.entry)
    if fields.has(event, fields.DELETED_ENTRIES):
        if cursor.deleted > event[fields.DELETED_ENTRIES]:
            forget_deleted(cursor, words)
        cursor.deleted_unknown = event[fields.DELETED_ENTRIES] - cursor.deleted


@compiled_part
def _begin(broker: Any, t: int, s: int) -> None:
    """Of a cursor that was met without its opening: the log begins to know it here."""
    topic, cursor = broker.topics[t], broker.cursors[s]
    cursor.opened_backlog, cursor.opened_end = backlog_entries(topic, broker.ledgers, cursor), topic.end_entries
    cursor.acknowledged, cursor.evicted, cursor.expired, cursor.sought = 0, 0, 0, 0
    persist(topic, broker.heap, broker.cursors, s, cursor.ledger, cursor.entry)


@compiled_part
def _put_kind_right(broker: Any, t: int, s: int, event: Array) -> None:
    """Whose cursor it is, and whether it is durable: its opening, which says so, is not in the log."""
    cursor = broker.cursors[s]
    cursor.cursor_kind = event[fields.STATED_KIND]
    if not fields.has(event, fields.IS_DURABLE):
        cursor.durable = 0
        if cursor.heap_position != NONE:
            remove(broker.topics[t], broker.heap, broker.cursors, s)


@compiled_part
def _explain(cursor: Record, fell: int) -> None:
    """The backlog fell by so many entries unseen: acknowledged. It rises by a seek only."""
    if fell >= 0:
        cursor.acknowledged += fell
    else:
        cursor.sought -= fell


@compiled_part
def _put_reading_right(reading: Record, topic: Record, ledgers: Records, event: Array) -> None:
    reading.known = 1 if find_ledger(topic, ledgers, event[fields.READ_LEDGER]) >= 0 else 0
    reading.consumers = event[fields.CONSUMERS]
    move_reading(reading, topic, ledgers, event[fields.LEDGER], event[fields.ENTRY], False)
    read_at(reading, topic, ledgers, event[fields.READ_LEDGER], event[fields.READ_ENTRY], event[fields.REPLAY] + event[fields.DELAYED])


@compiled_part
def _put_type_right(dispatcher: Record, subscription: Record, settings: Record, event: Array) -> None:
    """Where a dispatcher is, its type is known."""
    for number in range(SUB_TYPE_COUNT):
        if fields.has(event, fields.FIRST_SUB_TYPE + number):
            ensure_open(dispatcher, subscription, settings, event[fields.TS])
            dispatcher.sub_type = number


@compiled_part
def _put_in_flight_right(cursor: Record, delivered: int) -> None:
    """How many messages are in what consumers have nobody knows, where it is not what the log had."""
    if delivered != cursor.in_flight:
        is_plain = cursor.in_flight_msgs == cursor.in_flight
        cursor.in_flight_msgs = delivered if is_plain else multiply_divide(cursor.in_flight_msgs, delivered, max(1, cursor.in_flight))[0]
        cursor.msgs_unknown = 1
    cursor.in_flight = delivered
