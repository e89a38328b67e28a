"""Where a subscription reads, on its topic's scale of entries and bytes: enough to know whether anybody waited for more.

Invariants: a reading never passes the end of the scale; a position in a ledger that is not in the list (trimmed, or never seen) moves
nothing. docs/design/throttling.md, "Binding and nominal", has the formula.
"""

from pipeline.rules.broker.ledgers import consumed, find_ledger, place_of
from pipeline.rules.compiled import compiled_part
from pipeline.rules.integers import add, multiply_divide
from pipeline.rules.records import Record, Records


@compiled_part
def read_up_to(reading: Record, topic: Record, entries: int, size: int) -> None:
    """Put the reading on (`entries`, `size`) of the scale, never beyond its end."""
    at_end = entries >= topic.end_entries
    reading.entries = topic.end_entries if at_end else entries
    reading.bytes = topic.end_bytes if at_end else min(size, topic.end_bytes)


@compiled_part
def meet_reading(reading: Record, topic: Record) -> None:
    """A subscription whose cursor was never opened in the log starts where its topic ends now."""
    if reading.known == 0:
        reading.known = 1
        reading.entries, reading.bytes = topic.end_entries, topic.end_bytes
        reading.deleted_entries, reading.deleted_bytes = topic.end_entries, topic.end_bytes


@compiled_part
def open_reading(reading: Record, topic: Record, ledgers: Records, ledger: int, entry: int, deleted_behind: int) -> None:
    """A cursor was opened at its mark-delete position, `deleted_behind` entries beyond it individually deleted."""
    reading.known = 0
    meet_reading(reading, topic)
    reading.consumers = 0
    row = find_ledger(topic, ledgers, ledger)
    if row < 0:
        return
    average = ledgers[row].bytes // ledgers[row].entries if ledgers[row].entries > 0 else 0
    _delete_up_to(reading, ledgers, row, entry)
    behind = multiply_divide(deleted_behind, average, 1)[0]
    read_up_to(reading, topic, add(reading.deleted_entries, deleted_behind), add(reading.deleted_bytes, behind))


@compiled_part
def move_reading(reading: Record, topic: Record, ledgers: Records, ledger: int, entry: int, is_seek: bool) -> None:
    """The mark-delete position moved in memory: reading goes on beyond it, or from it after a seek."""
    row = find_ledger(topic, ledgers, ledger)
    if row < 0:
        return
    _delete_up_to(reading, ledgers, row, entry)
    if is_seek or reading.deleted_entries > reading.entries:
        rewind(reading, topic)


@compiled_part
def read_at(reading: Record, topic: Record, ledgers: Records, ledger: int, entry: int, left_behind: int) -> None:
    """The entry at this position is read next; `left_behind` entries before it were read and not delivered."""
    row = find_ledger(topic, ledgers, ledger)
    if row < 0:
        return
    before = ledgers[row].bytes_before + consumed(ledgers[row].entries, ledgers[row].bytes, entry - 1)
    entries = max(reading.deleted_entries, place_of(topic, ledgers, ledger, entry - 1) - left_behind)
    read_up_to(reading, topic, entries, max(reading.deleted_bytes, before))


@compiled_part
def rewind(reading: Record, topic: Record) -> None:
    """Read again from the mark-delete position."""
    read_up_to(reading, topic, reading.deleted_entries, reading.deleted_bytes)


@compiled_part
def _delete_up_to(reading: Record, ledgers: Records, row: int, entry: int) -> None:
    entries, size = ledgers[row].entries, ledgers[row].bytes
    reading.deleted_entries = add(ledgers[row].entries_before, entries if entry >= entries else entry + 1)
    # Inside a ledger by its integer average, as Pulsar does (§2.3).
    reading.deleted_bytes = add(ledgers[row].bytes_before, consumed(entries, size, entry))


@compiled_part
def count_consumer(reading: Record, topic: Record, opened: bool) -> None:
    """Consumers come and go; when the last one leaves the broker rewinds the cursor to its mark-delete position."""
    if opened:
        reading.consumers += 1
        return
    reading.consumers = max(0, reading.consumers - 1)
    if reading.consumers == 0:
        rewind(reading, topic)
