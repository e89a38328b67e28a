"""Cursors of a topic: where they stand, what is acknowledged behind them, and what moved them (§2.2).

Law: backlog = opened_backlog + published − acknowledged − evicted − expired + sought since the cursor was opened; `unexplained` is what is
missing from that, and a test holds it at 0.
"""

from pipeline.machines.array import Array
from pipeline.machines.backlog.deleted import count_deleted, delete_entry, forget_deleted, pass_deleted
from pipeline.machines.backlog.layout import (
    C_ACKNOWLEDGED,
    C_CUMULATIVE_ENTRY,
    C_CUMULATIVE_LEDGER,
    C_DELETED,
    C_DELETED_UNKNOWN,
    C_DISPATCHED_ENTRIES,
    C_DISPATCHED_MSGS,
    C_ENTRY,
    C_EVICTED,
    C_EXPIRED,
    C_LEDGER,
    C_OPENED_BACKLOG,
    C_OPENED_END,
    C_SOUGHT,
    C_UNACKED,
    T_END_ENTRIES,
)
from pipeline.machines.backlog.ledgers import first_entries_before, place_of
from pipeline.machines.blocks import Blocks
from pipeline.machines.compiled import compiled_part


@compiled_part
def is_behind(cursor: Array, ledger: int, entry: int) -> bool:
    """Whether the entry lies behind the mark-delete position."""
    return ledger > cursor[C_LEDGER] or (ledger == cursor[C_LEDGER] and entry > cursor[C_ENTRY])


@compiled_part
def backlog_entries(topic: Array, ledgers: Array, cursor: Array) -> int:
    """Entries behind the mark-delete position that are not individually deleted (precise, §2.3)."""
    place = max(place_of(topic, ledgers, cursor[C_LEDGER], cursor[C_ENTRY]), first_entries_before(topic, ledgers))
    return max(0, topic[T_END_ENTRIES] - place - cursor[C_DELETED] - cursor[C_DELETED_UNKNOWN])


@compiled_part
def unexplained(topic: Array, cursor: Array, backlog: int) -> int:
    """What the backlog has beyond what its history explains: 0."""
    published = topic[T_END_ENTRIES] - cursor[C_OPENED_END]
    gone = cursor[C_ACKNOWLEDGED] + cursor[C_EVICTED] + cursor[C_EXPIRED]
    return backlog - (cursor[C_OPENED_BACKLOG] + published - gone + cursor[C_SOUGHT])


@compiled_part
def acknowledge(cursor: Array, words: Blocks, ledger: int, entry: int) -> None:
    """One whole entry was acknowledged. Ignored at or before the mark-delete position, or if it already was."""
    if is_behind(cursor, ledger, entry) and entry >= 0 and delete_entry(cursor, words, ledger, entry):
        cursor[C_ACKNOWLEDGED] += 1
        cursor[C_UNACKED] = max(0, cursor[C_UNACKED] - 1)


@compiled_part
def acknowledge_up_to(cursor: Array, ledger: int, entry: int) -> None:
    """A cumulative acknowledgement: the mark-delete that follows moves the cursor."""
    cursor[C_CUMULATIVE_LEDGER], cursor[C_CUMULATIVE_ENTRY] = ledger, entry


@compiled_part
def is_acknowledged_up_to(topic: Array, ledgers: Array, cursor: Array, words: Blocks, ledger: int, entry: int) -> bool:
    """Whether acknowledgements explain a move of the mark-delete position; they never move it over a ledger's border alone."""
    if not is_behind(cursor, ledger, entry):
        return True
    passed = place_of(topic, ledgers, ledger, entry) - place_of(topic, ledgers, cursor[C_LEDGER], cursor[C_ENTRY])
    if passed <= 0 or _within_cumulative(cursor, ledger, entry):
        return passed > 0
    return passed <= count_deleted(cursor, words, ledger, entry) + cursor[C_DELETED_UNKNOWN]


@compiled_part
def _within_cumulative(cursor: Array, ledger: int, entry: int) -> bool:
    if ledger != cursor[C_CUMULATIVE_LEDGER]:
        return ledger < cursor[C_CUMULATIVE_LEDGER]
    return entry <= cursor[C_CUMULATIVE_ENTRY]


@compiled_part
def mark_delete(topic: Array, ledgers: Array, cursor: Array, words: Blocks, ledger: int, entry: int, evicting: bool) -> int:
    """The mark-delete position moved forward in memory. What it passes that was not acknowledged before is acknowledged cumulatively,
    or evicted while an eviction goes on, or else expired. Returns how many entries were evicted.
    """
    before = max(place_of(topic, ledgers, cursor[C_LEDGER], cursor[C_ENTRY]), first_entries_before(topic, ledgers))
    after = max(place_of(topic, ledgers, ledger, entry), first_entries_before(topic, ledgers))
    fresh = after - before - pass_deleted(cursor, words, ledger, entry)
    by_ack = _within_cumulative(cursor, ledger, entry)
    cursor[C_LEDGER], cursor[C_ENTRY] = ledger, entry
    if cursor[C_DELETED_UNKNOWN] > 0:
        fresh -= _take_unknown(cursor, topic[T_END_ENTRIES] - after, fresh, by_ack or evicting)
    if fresh <= 0:
        return 0
    cursor[C_UNACKED] = max(0, cursor[C_UNACKED] - fresh)
    if by_ack:
        cursor[C_ACKNOWLEDGED] += fresh
        return 0
    cursor[C_EVICTED if evicting else C_EXPIRED] += fresh
    return fresh if evicting else 0


@compiled_part
def _take_unknown(cursor: Array, behind: int, passed: int, passes_live: bool) -> int:
    """Of the deleted entries that nobody named, how many the position has passed: all that cannot lie in the `behind` entries left, and all
    of `passed` if nothing but acknowledgements moved it.
    """
    cannot_be_left = cursor[C_DELETED_UNKNOWN] - (behind - cursor[C_DELETED])
    taken = max(0, cannot_be_left, 0 if passes_live else min(passed, cursor[C_DELETED_UNKNOWN]))
    cursor[C_DELETED_UNKNOWN] -= taken
    return taken


@compiled_part
def seek(topic: Array, ledgers: Array, cursor: Array, words: Blocks, ledger: int, entry: int) -> None:
    """A seek: to a position in either direction, with nothing deleted behind it."""
    before = backlog_entries(topic, ledgers, cursor)
    forget_deleted(cursor, words)
    cursor[C_DELETED_UNKNOWN] = 0
    cursor[C_LEDGER], cursor[C_ENTRY] = ledger, entry
    cursor[C_CUMULATIVE_LEDGER], cursor[C_CUMULATIVE_ENTRY] = -1, -1
    cursor[C_SOUGHT] += backlog_entries(topic, ledgers, cursor) - before
    cursor[C_UNACKED] = 0


@compiled_part
def deliver(cursor: Array, entries: int, msgs: int) -> None:
    """Entries with so many messages were dispatched."""
    cursor[C_DISPATCHED_ENTRIES] += entries
    cursor[C_DISPATCHED_MSGS] += msgs
    cursor[C_UNACKED] += entries
