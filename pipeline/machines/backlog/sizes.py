"""How large a backlog is: the broker's estimates in bytes (§2.3), and messages."""

from typing import Any

from pipeline.machines.broker.heap import slowest
from pipeline.machines.broker.layout import BITS, NONE
from pipeline.machines.broker.ledgers import first_entries_before, place_of, row_of_place, size_behind
from pipeline.machines.broker.marks import msgs_of, msgs_up_to
from pipeline.machines.compiled import compiled_part
from pipeline.machines.outcome import NULL
from pipeline.machines.records import Record, Records
from pipeline.machines.segments import USED, first_row

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
    up_to_oldest = msgs_up_to(topic, marks, ledgers[row].ledger, oldest)
    if up_to_oldest < 0:
        return NULL
    messages = topic.end_msgs - (up_to_oldest - msgs_of(topic, marks, ledgers[row].ledger, oldest))
    first = first_row(cursor.words)
    for row in range(first, first + cursor.words[USED]):
        bits, entry = words[row].bits, words[row].word * BITS
        while bits != 0:
            if bits & 1:
                msgs = msgs_of(topic, marks, words[row].ledger, entry)
                if msgs < 0:
                    return NULL
                messages -= msgs
            bits >>= 1
            entry += 1
    return messages
