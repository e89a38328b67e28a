"""How large a backlog is: the broker's estimates in bytes (§2.3), and messages."""

from typing import Any

from pipeline.rules.blocks import Blocks, following, is_at_or_before, last_at_or_before
from pipeline.rules.broker.deleted import count_bits
from pipeline.rules.broker.heap import slowest
from pipeline.rules.broker.layout import BITS, NONE
from pipeline.rules.broker.ledgers import first_entries_before, place_of, row_of_place, size_behind
from pipeline.rules.broker.marks import msgs_before, msgs_from, stands_for
from pipeline.rules.compiled import compiled_part
from pipeline.rules.records import Record, Records
from schemas.outcomes import NULL

#: Versions from which on a subscription's size leaves out individually deleted entries (by the dates of releases).
LESS_DELETED_4_0, FIRST_4_1, LESS_DELETED_4_1 = 4_000_009, 4_001_000, 4_001_003


@compiled_part
def backlog_size(broker: Any, t: int) -> int:
    """The topic's backlog size in bytes: from the slowest durable cursor's mark-delete position in memory; 0 without one (§2.3)."""
    root = slowest(broker.topics[t], broker.heap)
    return 0 if root == NONE else size_behind(broker.topics[t], broker.ledgers, broker.cursors[root].ledger, broker.cursors[root].entry)


@compiled_part
def subscription_size(topic: Record, ledgers: Records, cursor: Record, entries: int, version: int) -> int:
    """The broker's estimate of a subscription's bytes. Newer brokers take individually deleted entries off, each at the backlog's average
    (#25089); 4.0.8 does not. `entries`: the backlog less those.
    """
    size = size_behind(topic, ledgers, cursor.ledger, cursor.entry)
    deleted = cursor.deleted + cursor.deleted_unknown
    subtracts = version == 0 or LESS_DELETED_4_0 <= version < FIRST_4_1 or version >= LESS_DELETED_4_1
    return max(0, size - deleted * (size // (entries + deleted))) if subtracts and deleted > 0 else size


@compiled_part
def backlog_messages(broker: Any, topic: Record, cursor: Record, entries: int) -> int:
    """Messages in the cursor's backlog; NULL where an entry of it, or which ones are acknowledged, is not known."""
    if entries == 0:
        return 0
    ledgers, marks, words = broker.ledgers, broker.marks, broker.words
    if cursor.deleted_unknown > 0:
        return NULL
    place = max(place_of(topic, ledgers, cursor.ledger, cursor.entry), first_entries_before(topic, ledgers))
    row = row_of_place(topic, ledgers, place)
    oldest = place - ledgers[row].entries_before
    messages = msgs_from(topic, marks, ledgers[row].ledger, oldest)
    deleted = _deleted_messages(topic, marks, cursor, words)
    return messages - deleted if messages >= 0 and deleted >= 0 else NULL


@compiled_part
def _deleted_messages(topic: Record, marks: Blocks, cursor: Record, words: Blocks) -> int:
    """Messages of the cursor's individually deleted entries: words and marks are walked side by side; −1 if an entry is not known."""
    messages = 0
    block, row = following(cursor.words, words, NONE, NONE)
    if row < 0:
        return 0
    mark_block, mark = last_at_or_before(topic.marks, marks, words.rows[row].ledger, words.rows[row].entry)
    while row >= 0:
        ledger, bits, entry = words.rows[row].ledger, words.rows[row].bits, words.rows[row].entry
        while bits != 0:
            zeros = count_bits((bits & -bits) - 1)  # below its lowest one
            bits >>= zeros
            entry += zeros
            next_block, next_mark = following(topic.marks, marks, mark_block, mark)
            while next_mark >= 0 and is_at_or_before(marks.rows, next_mark, ledger, entry):
                mark_block, mark = next_block, next_mark
                next_block, next_mark = following(topic.marks, marks, mark_block, mark)
            if mark < 0 or not stands_for(marks.rows[mark], ledger, entry):
                return -1
            taken = min(BITS, marks.rows[mark].entry + marks.rows[mark].entries - entry)  # entries of the word in this mark
            messages += _messages_of(marks.rows[mark], entry, bits & ((1 << taken) - 1))
            bits >>= taken
            entry += taken
        block, row = following(cursor.words, words, block, row)
    return messages


@compiled_part
def _messages_of(mark: Record, entry: int, bits: int) -> int:
    """Messages of the entries whose bits are set, the lowest one for `entry`; all are the mark's."""
    if mark.msgs % mark.entries == 0:
        return mark.msgs // mark.entries * count_bits(bits)
    messages = 0
    while bits != 0:
        if bits & 1:
            messages += msgs_before(mark, entry + 1) - msgs_before(mark, entry)
        bits >>= 1
        entry += 1
    return messages
