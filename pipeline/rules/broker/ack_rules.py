"""What changes a cursor and what is with its consumers: acknowledgements, redeliveries, moves. Called as the other rules are (rules.py)."""

from pipeline.rules import fields
from pipeline.rules.array import Array
from pipeline.rules.blocks import Blocks
from pipeline.rules.broker.cursor_life import persist
from pipeline.rules.broker.cursors import TopicCursors, acknowledge, acknowledge_up_to, mark_delete, pass_over, seek
from pipeline.rules.broker.in_flight import is_beyond_delivered, settle_in_flight
from pipeline.rules.broker.readings import meet_reading, move_reading, read_up_to
from pipeline.rules.compiled import compiled_part, inlined_part
from pipeline.rules.integers import add
from pipeline.rules.records import Record


@inlined_part
def on_ack(topic: Record, marks: Blocks, cursor: Record, words: Blocks, event: Array) -> None:
    """An acknowledged position. A part of a batch leaves its entry where it is."""
    if fields.has(event, fields.BATCH_INDEX):
        cursor.msgs_unknown = 1
        return
    if event[fields.ACK_TYPE] == 1:
        acknowledge_up_to(cursor, event[fields.LEDGER], event[fields.ENTRY])
    else:
        acknowledge(topic, marks, cursor, words, event[fields.LEDGER], event[fields.ENTRY])


@compiled_part
def on_broker_ack(topic: Record, marks: Blocks, cursor: Record, words: Blocks, reading: Record, event: Array) -> None:
    """The broker acknowledged for the subscription: an entry that was read and nobody gets, or one of a transaction that is committed."""
    is_whole_entry = not fields.has(event, fields.BATCH_INDEX) and event[fields.ACK_TYPE] != 1
    if is_whole_entry and is_beyond_delivered(cursor, event[fields.LEDGER], event[fields.ENTRY]):
        if pass_over(cursor, words, event[fields.LEDGER], event[fields.ENTRY]):
            read_up_to(reading, topic, add(reading.entries, 1), reading.bytes)
    else:
        on_ack(topic, marks, cursor, words, event)


@compiled_part
def on_redeliver(cursor: Record, event: Array) -> None:
    """Entries go back to be delivered again: so many, or all."""
    settle_in_flight(cursor, event[fields.GIVEN_BACK] if fields.has(event, fields.GIVEN_BACK) else cursor.in_flight, -1)


@compiled_part
def on_mark_delete(topic_cursors: TopicCursors, words: Blocks, reading: Record, settings: Record, s: int, event: Array) -> None:
    """The mark-delete position moved: in the metadata that orders the heap, or in memory, by a seek or forward."""
    topic, ledgers, cursor = topic_cursors.topic, topic_cursors.ledgers, topic_cursors.cursors[s]
    meet_reading(reading, topic)
    ledger, entry = event[fields.LEDGER], event[fields.ENTRY]
    if event[fields.MARK_PERSISTED] == 1:
        persist(topic, topic_cursors.heap, topic_cursors.cursors, s, ledger, entry)
        return
    is_seek, read_entries = event[fields.MARK_RESET] == 1, reading.entries
    move_reading(reading, topic, ledgers, ledger, entry, is_seek)
    if is_seek:
        seek(topic, ledgers, cursor, words, ledger, entry)
    else:
        mark_delete(topic, ledgers, cursor, words, ledger, entry, read_entries, settings.version)
        reading.has_passed = 1 if cursor.passed > 0 else 0
