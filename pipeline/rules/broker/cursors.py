"""Cursors of a topic: where they stand, what is acknowledged behind them, and what moved them (§2.2).

Invariant: backlog = opened_backlog + published − acknowledged − evicted − expired + sought since the cursor was opened; `unexplained` is
what is missing from that, and a test holds it at 0.
"""

from typing import NamedTuple

from pipeline.rules.blocks import Blocks
from pipeline.rules.broker.deleted import count_deleted, delete_entry, forget_deleted, is_deleted, pass_deleted
from pipeline.rules.broker.in_flight import acknowledge_in_flight, acknowledge_passed, forget_in_flight, pass_in_flight, settle_in_flight
from pipeline.rules.broker.layout import DEDUPLICATION, NONE, REPLICATOR
from pipeline.rules.broker.ledgers import first_entries_before, place_of, row_of_place
from pipeline.rules.compiled import compiled_part
from pipeline.rules.records import Record, Records


class TopicCursors(NamedTuple):
    """The cursors of a topic, what they move over, and the heap that orders them."""

    topic: Record
    ledgers: Records
    heap: Records
    subscriptions: Records
    cursors: Records


@compiled_part
def is_behind(cursor: Record, ledger: int, entry: int) -> bool:
    """Whether the entry lies behind the mark-delete position."""
    return ledger > cursor.ledger or (ledger == cursor.ledger and entry > cursor.entry)


@compiled_part
def is_of_subscription(cursor: Record) -> bool:
    """Whether the broker has a subscription for the cursor: readers and compaction have one, deduplication and replicators not (§2.4)."""
    return cursor.cursor_kind not in (REPLICATOR, DEDUPLICATION)


@compiled_part
def is_whole(cursor: Record, settings: Record) -> int:
    """1 if the log has the cursor's whole life."""
    return 1 if cursor.began_complete == 1 and cursor.losses_at_open == settings.losses else 0


@compiled_part
def backlog_entries(topic: Record, ledgers: Records, cursor: Record) -> int:
    """Entries behind the mark-delete position that are not individually deleted (precise, §2.3)."""
    place = max(place_of(topic, ledgers, cursor.ledger, cursor.entry), first_entries_before(topic, ledgers))
    return max(0, topic.end_entries - place - cursor.deleted - cursor.deleted_unknown)


@compiled_part
def has_unknown_deletions(topic: Record, cursors: Records) -> bool:
    """Whether a cursor of the topic has deleted entries of which the log has only how many they are."""
    c = topic.first_cursor
    while c != NONE:
        if cursors[c].deleted_unknown > 0:
            return True
        c = cursors[c].next_of_topic
    return False


@compiled_part
def unexplained(topic: Record, cursor: Record, backlog: int) -> int:
    """What the backlog has beyond what its history explains: 0."""
    published = topic.end_entries - cursor.opened_end
    gone = cursor.acknowledged + cursor.evicted + cursor.expired
    return backlog - (cursor.opened_backlog + published - gone + cursor.sought)


@compiled_part
def acknowledge(topic: Record, marks: Blocks, cursor: Record, words: Blocks, ledger: int, entry: int) -> None:
    """One whole entry was acknowledged. Of the backlog it is gone already at or before the mark-delete position, or if it already was."""
    if not is_behind(cursor, ledger, entry):
        acknowledge_passed(cursor)
    elif entry >= 0 and delete_entry(cursor, words, ledger, entry):
        cursor.acknowledged += 1
        acknowledge_in_flight(topic, marks, cursor, ledger, entry)


@compiled_part
def pass_over(cursor: Record, words: Blocks, ledger: int, entry: int) -> bool:
    """The broker acknowledged an entry that nobody got: a marker, a message of an aborted transaction. Whether it was in the backlog."""
    is_new = entry >= 0 and is_behind(cursor, ledger, entry) and delete_entry(cursor, words, ledger, entry)
    cursor.acknowledged += 1 if is_new else 0
    return is_new


@compiled_part
def acknowledge_up_to(cursor: Record, ledger: int, entry: int) -> None:
    """A cumulative acknowledgement: the mark-delete that follows moves the cursor."""
    cursor.cumulative_ledger, cursor.cumulative_entry = ledger, entry


@compiled_part
def is_acknowledged_up_to(topic: Record, ledgers: Records, cursor: Record, words: Blocks, ledger: int, entry: int) -> bool:
    """Whether acknowledgements explain a move of the mark-delete position; they never move it over a ledger's border alone.

    It slides from an acknowledged entry right behind it over deleted ones that follow (§2.2): only these may be ones that nobody named.
    """
    if not is_behind(cursor, ledger, entry):
        return True
    passed = place_of(topic, ledgers, ledger, entry) - place_of(topic, ledgers, cursor.ledger, cursor.entry)
    if passed <= 0 or _within_cumulative(cursor, ledger, entry):
        return passed > 0
    unnamed = passed - count_deleted(cursor, words, ledger, entry)
    return unnamed <= 0 or (unnamed <= cursor.deleted_unknown and _slides(topic, ledgers, cursor, words))


@compiled_part
def _slides(topic: Record, ledgers: Records, cursor: Record, words: Blocks) -> bool:
    """Whether the entry right behind the mark-delete position was acknowledged."""
    place = max(place_of(topic, ledgers, cursor.ledger, cursor.entry), first_entries_before(topic, ledgers))
    row = row_of_place(topic, ledgers, place)
    return row >= 0 and is_deleted(cursor, words, ledgers[row].ledger, place - ledgers[row].entries_before)


@compiled_part
def _within_cumulative(cursor: Record, ledger: int, entry: int) -> bool:
    if ledger != cursor.cumulative_ledger:
        return ledger < cursor.cumulative_ledger
    return entry <= cursor.cumulative_entry


@compiled_part
def mark_delete(
    topic: Record, ledgers: Records, cursor: Record, words: Blocks, ledger: int, entry: int, read_entries: int, version: int
) -> None:
    """The mark-delete position moved forward in memory. What it passes that was not acknowledged before is acknowledged cumulatively, if
    somebody asked for it; or evicted, if the move is an eviction's (`evicting`); or else expired. Entries up to place `read_entries` of the
    scale were delivered.
    """
    evicting = cursor.evicting == 1
    before = max(place_of(topic, ledgers, cursor.ledger, cursor.entry), first_entries_before(topic, ledgers))
    after = max(place_of(topic, ledgers, ledger, entry), first_entries_before(topic, ledgers))
    by_ack = _within_cumulative(cursor, ledger, entry)
    asked = after - before if by_ack else _entries_asked_for(topic, ledgers, cursor, before)
    deleted_before = pass_deleted(cursor, words, cursor.cumulative_ledger, cursor.cumulative_entry) if 0 < asked < after - before else 0
    fresh = after - before - deleted_before - pass_deleted(cursor, words, ledger, entry)
    cursor.ledger, cursor.entry = ledger, entry
    if cursor.deleted_unknown > 0:
        fresh -= _take_unknown(cursor, topic.end_entries - after, fresh, by_ack or evicting)
    acknowledged = max(0, min(asked - deleted_before, fresh))
    removed = max(0, fresh - acknowledged)
    if acknowledged > 0:
        settle_in_flight(cursor, acknowledged, -1)
        cursor.acknowledged += acknowledged
    if removed == 0:
        return
    if evicting:
        cursor.evicted += removed
        pass_in_flight(cursor, removed - max(0, after - max(before, read_entries)), version)
    else:
        # Markers of transactions go like this, and nobody has them: only what the backlog cannot hold was in flight.
        cursor.expired += removed
        pass_in_flight(cursor, cursor.in_flight - backlog_entries(topic, ledgers, cursor), version)


@compiled_part
def _entries_asked_for(topic: Record, ledgers: Records, cursor: Record, before: int) -> int:
    """How many entries beyond place `before` a cumulative acknowledgement asked for that has not moved the position yet."""
    if not is_behind(cursor, cursor.cumulative_ledger, cursor.cumulative_entry):
        return 0
    return max(0, place_of(topic, ledgers, cursor.cumulative_ledger, cursor.cumulative_entry) - before)


@compiled_part
def _take_unknown(cursor: Record, behind: int, passed: int, passes_live: bool) -> int:
    """Of the deleted entries that nobody named, how many the position has passed: all that cannot lie in the `behind` entries left, and all
    of `passed` if nothing but acknowledgements moved it.
    """
    not_left = unknown_not_left(cursor, behind, cursor.deleted)
    taken = max(not_left, 0 if passes_live else min(passed, cursor.deleted_unknown))
    cursor.deleted_unknown -= taken
    return taken


@compiled_part
def unknown_not_left(cursor: Record, behind: int, deleted_behind: int) -> int:
    """Of the deleted entries that nobody named, how many cannot lie in the `behind` entries left, of which `deleted_behind` are named."""
    return max(0, cursor.deleted_unknown - (behind - deleted_behind))


@compiled_part
def seek(topic: Record, ledgers: Records, cursor: Record, words: Blocks, ledger: int, entry: int) -> None:
    """A seek: to a position in either direction, with nothing deleted behind it."""
    before = backlog_entries(topic, ledgers, cursor)
    forget_deleted(cursor, words)
    cursor.deleted_unknown = 0
    cursor.ledger, cursor.entry = ledger, entry
    cursor.cumulative_ledger, cursor.cumulative_entry = -1, -1
    cursor.delivered_ledger, cursor.delivered_entry = 0, 0
    cursor.sought += backlog_entries(topic, ledgers, cursor) - before
    forget_in_flight(cursor)
