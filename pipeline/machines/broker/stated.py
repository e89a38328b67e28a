"""What the broker says it holds of a cursor (`state`, from version 1.2 on): books that missed something are put right by it.

Nothing of a cursor changes whose whole life is in the log.
"""

from typing import Any

from pipeline.machines import fields
from pipeline.machines.array import Array
from pipeline.machines.broker.cursor_life import is_gone, is_of_nowhere, meet_cursor, persist
from pipeline.machines.broker.cursors import backlog_entries, is_whole
from pipeline.machines.broker.deleted import forget_deleted, pass_deleted
from pipeline.machines.broker.heap import remove
from pipeline.machines.broker.layout import NONE
from pipeline.machines.broker.ledgers import find_ledger, first_entries_before, grow_ledger, meet_ledger, place_of, storage_size
from pipeline.machines.broker.readings import move_reading, read_at
from pipeline.machines.broker.topics import meet_topic
from pipeline.machines.compiled import compiled_part
from pipeline.machines.integers import multiply_divide
from pipeline.machines.records import Record, Records


@compiled_part
def is_news(cursor: Record, settings: Record, event: Array) -> bool:
    """Whether a `state` tells more than the log did: numbers of one instant, of a cursor that is there, whose life is not all in the log.

    One of a cursor that may be gone counts only if nothing happened since the broker was asked.
    """
    if fields.has(event, fields.IS_MOVING) or is_whole(cursor, settings) == 1:
        return False
    return cursor.open == 1 or cursor.gone_at == 0 or (fields.has(event, fields.IS_EXACT) and not is_gone(cursor, settings))


@compiled_part
def stated_waiting(topic: Record, ledgers: Records, event: Array) -> int:
    """Entries of the backlog that were not delivered, held ones included: those from the read position on, those in the replay queue, and
    those that are held. −1: the read position's ledger was not seen.
    """
    ledger = event[fields.READ_LEDGER]
    if find_ledger(topic, ledgers, ledger) < 0 and place_of(topic, ledgers, ledger, -1) < topic.end_entries:
        return -1
    read = place_of(topic, ledgers, ledger, event[fields.READ_ENTRY] - 1)
    return min(event[fields.BACKLOG_ENTRIES], topic.end_entries - read + event[fields.REPLAY] + event[fields.DELAYED])


@compiled_part
def is_news_of_topic(topic: Record, settings: Record, event: Array) -> bool:
    """Whether a `topic_state` tells more than the log did: of a topic that is there, whose life is not all in the log."""
    is_whole_topic = topic.began_complete == 1 and topic.losses_at_start == settings.losses
    return bool(topic.alive == 1) and not is_whole_topic and not fields.has(event, fields.TOPIC_IS_MOVING)


@compiled_part
def put_topic_right(topic: Record, ledgers: Records, ends: Array, event: Array) -> None:
    """Entries up to the last confirmed position are there, also those of which the publish is lost.

    Of what size they are is known where no ledger is missing: then all of the topic's are as many as the broker says.
    """
    if event[fields.ENTRY] < 0:
        return
    row = meet_ledger(topic, ledgers, ends, event[fields.LEDGER])
    more = event[fields.ENTRY] + 1 - ledgers[row].entries
    if more <= 0:
        return
    first = first_entries_before(topic, ledgers)
    is_all = topic.end_entries + more - first == event[fields.TOPIC_ENTRIES]
    size = max(0, event[fields.TOPIC_BYTES] - storage_size(topic, ledgers)) if is_all else 0
    grow_ledger(topic, ledgers, row, more, size)
    topic.confirmed_ledger = max(topic.confirmed_ledger, event[fields.LEDGER])


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
        _begin(broker, t, s, event)
    else:
        _explain(cursor, before - backlog_entries(topic, broker.ledgers, cursor))
    _put_reading_right(broker.readings[s], topic, broker.ledgers, event)
    _put_in_flight_right(cursor, stated_waiting(topic, broker.ledgers, event), event)


@compiled_part
def _put_position_right(cursor: Record, words: Any, event: Array) -> None:
    cursor.ledger, cursor.entry = event[fields.LEDGER], event[fields.ENTRY]
    pass_deleted(cursor, words, cursor.ledger, cursor.entry)
    if fields.has(event, fields.DELETED_ENTRIES):
        if cursor.deleted > event[fields.DELETED_ENTRIES]:
            forget_deleted(cursor, words)
        cursor.deleted_unknown = event[fields.DELETED_ENTRIES] - cursor.deleted


@compiled_part
def _begin(broker: Any, t: int, s: int, event: Array) -> None:
    """Of a cursor that was met without its opening: the log begins to know it here."""
    topic, cursor = broker.topics[t], broker.cursors[s]
    cursor.cursor_kind = event[fields.STATED_KIND]
    cursor.opened_backlog, cursor.opened_end = backlog_entries(topic, broker.ledgers, cursor), topic.end_entries
    cursor.acknowledged, cursor.evicted, cursor.expired, cursor.sought = 0, 0, 0, 0
    persist(topic, broker.heap, broker.cursors, s, cursor.ledger, cursor.entry)
    if not fields.has(event, fields.IS_DURABLE):
        cursor.durable = 0
        if cursor.heap_position != NONE:
            remove(topic, broker.heap, broker.cursors, s)


@compiled_part
def _explain(cursor: Record, fell: int) -> None:
    """The backlog fell by so many entries unseen: acknowledged. It rises by a seek only."""
    if fell >= 0:
        cursor.acknowledged += fell
    else:
        cursor.sought -= fell


@compiled_part
def _put_reading_right(reading: Record, topic: Record, ledgers: Records, event: Array) -> None:
    reading.known, reading.consumers = 1, event[fields.CONSUMERS]
    move_reading(reading, topic, ledgers, event[fields.LEDGER], event[fields.ENTRY], False)
    read_at(reading, topic, ledgers, event[fields.READ_LEDGER], event[fields.READ_ENTRY], event[fields.REPLAY] + event[fields.DELAYED])


@compiled_part
def _put_in_flight_right(cursor: Record, waiting: int, event: Array) -> None:
    """What does not wait is with consumers. How many messages are in it is known where each entry has one."""
    if waiting < 0:
        return
    in_flight = event[fields.BACKLOG_ENTRIES] - waiting
    if in_flight != cursor.in_flight:
        is_plain = cursor.in_flight_msgs == cursor.in_flight
        cursor.in_flight_msgs = in_flight if is_plain else multiply_divide(cursor.in_flight_msgs, in_flight, max(1, cursor.in_flight))[0]
        cursor.msgs_unknown = 1
    cursor.in_flight = in_flight
