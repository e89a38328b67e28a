"""Entries that consumers have: delivered, and neither acknowledged nor given back. What the broker counts of them as unacknowledged.

Invariants: `in_flight`, `passed` and `leaked` are never negative; where each entry in flight has one message, so many messages are in
flight. docs/design/backlog.md, "Unacknowledged", has the rules with their sources.
"""

from pipeline.rules.blocks import Blocks
from pipeline.rules.broker.marks import mark_of
from pipeline.rules.compiled import compiled_part, inlined_part
from pipeline.rules.integers import add, multiply_divide
from pipeline.rules.records import Record

#: From these on a dispatcher is told that a removal moved the mark-delete position (#25624, §2.6).
TOLD_4_0, FIRST_4_1, TOLD_4_2 = 4_000_011, 4_001_000, 4_002_002
#: From this on a dispatcher that reads forgets what it waits for up to the mark-delete position, without counting it down. Seen on 4.0.8.
FORGETS = 4_000_000


@inlined_part
def deliver(cursor: Record, entries: int, msgs: int) -> None:
    """Entries with so many messages were dispatched. An event may have any number of them: sums saturate."""
    cursor.dispatched_entries = add(cursor.dispatched_entries, entries)
    cursor.dispatched_msgs = add(cursor.dispatched_msgs, msgs)
    cursor.in_flight, cursor.in_flight_msgs = add(cursor.in_flight, entries), add(cursor.in_flight_msgs, msgs)


@compiled_part
def is_beyond_delivered(cursor: Record, ledger: int, entry: int) -> bool:
    """Whether the entry lies behind the last one that was delivered. One that the broker acknowledges there was given to nobody."""
    return bool(ledger > cursor.delivered_ledger or (ledger == cursor.delivered_ledger and entry > cursor.delivered_entry))


@compiled_part
def note_delivered_up_to(cursor: Record, ledger: int, entry: int) -> None:
    """A delivery ended at this position."""
    if is_beyond_delivered(cursor, ledger, entry):
        cursor.delivered_ledger, cursor.delivered_entry = ledger, entry


@compiled_part
def settle_in_flight(cursor: Record, entries: int, msgs: int) -> None:
    """So many entries are in flight no more: acknowledged, given back, or removed. `msgs`: messages in them, −1 where nobody knows."""
    if entries >= cursor.in_flight:
        cursor.in_flight, cursor.in_flight_msgs = 0, 0
        cursor.msgs_unknown = 0 if cursor.passed + cursor.leaked == 0 else cursor.msgs_unknown
        return
    taken = entries if cursor.in_flight_msgs == cursor.in_flight else msgs
    if taken < 0:
        taken = multiply_divide(cursor.in_flight_msgs, entries, cursor.in_flight)[0]
        cursor.msgs_unknown = 1
    cursor.in_flight, cursor.in_flight_msgs = cursor.in_flight - entries, max(0, cursor.in_flight_msgs - taken)


@compiled_part
def acknowledge_in_flight(topic: Record, marks: Blocks, cursor: Record, ledger: int, entry: int) -> None:
    """One whole entry was acknowledged for the first time."""
    is_plain = cursor.in_flight_msgs == cursor.in_flight
    settle_in_flight(cursor, 1, 1 if is_plain else _messages_of(topic, marks, ledger, entry))


@compiled_part
def acknowledge_passed(cursor: Record) -> None:
    """An entry at or before the mark-delete position was acknowledged: one that was removed in flight, if there is any."""
    if cursor.passed == 0:
        return
    taken = 1 if cursor.passed_msgs == cursor.passed else multiply_divide(cursor.passed_msgs, 1, cursor.passed)[0]
    cursor.msgs_unknown = cursor.msgs_unknown if cursor.passed_msgs == cursor.passed else 1
    cursor.passed, cursor.passed_msgs = cursor.passed - 1, cursor.passed_msgs - taken


@compiled_part
def pass_in_flight(cursor: Record, entries: int, version: int) -> None:
    """So many entries in flight, perhaps none, were removed. Only a broker that tells the dispatcher counts them down."""
    if entries <= 0 or cursor.in_flight == 0:
        return
    before, msgs_before = cursor.in_flight, cursor.in_flight_msgs
    settle_in_flight(cursor, entries, -1)
    if not (TOLD_4_0 <= version < FIRST_4_1 or version >= TOLD_4_2):
        cursor.passed = add(cursor.passed, before - cursor.in_flight)
        cursor.passed_msgs = add(cursor.passed_msgs, msgs_before - cursor.in_flight_msgs)


@compiled_part
def forget_passed(cursor: Record, version: int) -> None:
    """The dispatcher reads: it waits no more for what was removed, but goes on counting it."""
    if version == 0 or version >= FORGETS:
        cursor.leaked, cursor.leaked_msgs = add(cursor.leaked, cursor.passed), add(cursor.leaked_msgs, cursor.passed_msgs)
        cursor.passed, cursor.passed_msgs = 0, 0


@compiled_part
def forget_in_flight(cursor: Record) -> None:
    """No consumer has anything any more: the last one left, or a seek disconnected all."""
    cursor.in_flight, cursor.in_flight_msgs, cursor.msgs_unknown = 0, 0, 0
    cursor.passed, cursor.passed_msgs, cursor.leaked, cursor.leaked_msgs = 0, 0, 0, 0


@compiled_part
def _messages_of(topic: Record, marks: Blocks, ledger: int, entry: int) -> int:
    """Messages in an entry; −1 where it was not seen published, or is one of many of which only the sum is kept."""
    row = mark_of(topic, marks, ledger, entry)
    return marks.rows[row].msgs if row >= 0 and marks.rows[row].entries == 1 else -1
