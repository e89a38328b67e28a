"""A topic's ledgers, ascending, and its scale: every entry the topic ever had has a place on it, and so has every position between entries.

Invariants: places never change when ledgers are trimmed; `end` is the sum of all ledgers, trimmed ones too.
"""

from pipeline.rules.array import Array
from pipeline.rules.compiled import compiled_part
from pipeline.rules.integers import add
from pipeline.rules.records import Record, Records
from pipeline.rules.segments import USED, first_row, insert_row, remove_row


@compiled_part
def lower_bound(topic: Record, ledgers: Records, ledger: int) -> int:
    """How many of the topic's ledgers have a smaller id; the last ones are looked at first."""
    used, first = topic.ledgers[USED], first_row(topic.ledgers)
    if used == 0 or ledgers[first + used - 1].ledger < ledger:
        return used
    if used == 1 or ledgers[first + used - 2].ledger < ledger:
        return used - 1
    low, high = 0, used
    while low < high:
        middle = (low + high) // 2
        if ledgers[first + middle].ledger < ledger:
            low = middle + 1
        else:
            high = middle
    return low


@compiled_part
def row_at(topic: Record, ledgers: Records, position: int, ledger: int) -> int:
    """Row of the ledger if it is the `position`-th (by `lower_bound`), else −1: it is not one of the topic's."""
    row = first_row(topic.ledgers) + position
    return row if position < topic.ledgers[USED] and ledgers[row].ledger == ledger else -1


@compiled_part
def find_ledger(topic: Record, ledgers: Records, ledger: int) -> int:
    """Row of the topic's ledger, or −1."""
    return row_at(topic, ledgers, lower_bound(topic, ledgers, ledger), ledger)


@compiled_part
def first_entries_before(topic: Record, ledgers: Records) -> int:
    """Place on the scale where the topic's first ledger begins: what lies before was trimmed."""
    return ledgers[first_row(topic.ledgers)].entries_before if topic.ledgers[USED] > 0 else topic.end_entries


@compiled_part
def place_of(topic: Record, ledgers: Records, ledger: int, entry: int) -> int:
    """Entries of the topic up to and including position (`ledger`, `entry`); in a ledger that is gone: up to the next one's beginning."""
    position = lower_bound(topic, ledgers, ledger)
    if position == topic.ledgers[USED]:
        return topic.end_entries
    row = first_row(topic.ledgers) + position
    before = ledgers[row].entries_before
    return before if ledgers[row].ledger != ledger else before + min(entry + 1, ledgers[row].entries)


@compiled_part
def row_of_place(topic: Record, ledgers: Records, place: int) -> int:
    """Row of the ledger that holds the entry after `place` entries of the scale, or −1 if there is none."""
    used, first = topic.ledgers[USED], first_row(topic.ledgers)
    if place >= topic.end_entries or used == 0:
        return -1
    low, high = 0, used  # the last ledger that begins at or before `place` and is not empty holds it
    while low < high:
        middle = (low + high) // 2
        if ledgers[first + middle].entries_before + ledgers[first + middle].entries <= place:
            low = middle + 1
        else:
            high = middle
    return first + low if low < used else -1  # the last ledger may be gone before an earlier one, in a damaged log


@compiled_part
def meet_ledger(topic: Record, ledgers: Records, ends: Array, ledger: int) -> int:
    """Row of the ledger, made empty in its order if it is not known."""
    position = lower_bound(topic, ledgers, ledger)
    row = row_at(topic, ledgers, position, ledger)
    if row >= 0:
        return row
    row = insert_row(topic.ledgers, ledgers, ends, position)
    ledgers[row].ledger, ledgers[row].entries, ledgers[row].bytes = ledger, 0, 0
    ledgers[row].close_ms, ledgers[row].closed = 0, 0
    if position + 1 < topic.ledgers[USED]:
        ledgers[row].entries_before = ledgers[row + 1].entries_before
        ledgers[row].bytes_before = ledgers[row + 1].bytes_before
    else:
        ledgers[row].entries_before = topic.end_entries
        ledgers[row].bytes_before = topic.end_bytes
    return row


@compiled_part
def grow_ledger(topic: Record, ledgers: Records, row: int, entries: int, size: int) -> None:
    """`entries` of together `size` bytes more (or fewer) in the ledger: what follows it on the scale moves."""
    ledgers[row].entries = add(ledgers[row].entries, entries)
    ledgers[row].bytes = add(ledgers[row].bytes, size)
    topic.end_entries = add(topic.end_entries, entries)
    topic.end_bytes = add(topic.end_bytes, size)
    for later in range(row + 1, first_row(topic.ledgers) + topic.ledgers[USED]):
        ledgers[later].entries_before = add(ledgers[later].entries_before, entries)
        ledgers[later].bytes_before = add(ledgers[later].bytes_before, size)


@compiled_part
def close_ledger(topic: Record, ledgers: Records, row: int, entries: int, size: int, close_ms: int) -> None:
    """The ledger is closed with these totals."""
    grow_ledger(topic, ledgers, row, entries - ledgers[row].entries, size - ledgers[row].bytes)
    ledgers[row].close_ms = close_ms
    ledgers[row].closed = 1


@compiled_part
def trim_ledger(topic: Record, ledgers: Records, ledger: int) -> None:
    """The ledger is gone from the list; its entries keep their places."""
    position = lower_bound(topic, ledgers, ledger)
    if row_at(topic, ledgers, position, ledger) >= 0:
        remove_row(topic.ledgers, ledgers, position)


@compiled_part
def storage_size(topic: Record, ledgers: Records) -> int:
    """Bytes of all ledgers in the list."""
    total = 0
    first = first_row(topic.ledgers)
    for row in range(first, first + topic.ledgers[USED]):
        total = add(total, ledgers[row].bytes)
    return total


@compiled_part
def size_behind(topic: Record, ledgers: Records, ledger: int, entry: int) -> int:
    """The broker's estimate of the bytes behind a mark-delete position (§2.3): whole ledgers, and inside a ledger its integer average.

    If the position's ledger is gone, nothing is taken off for it.
    """
    size = 0
    first = first_row(topic.ledgers)
    for row in range(first + topic.ledgers[USED] - 1, first - 1, -1):
        if ledgers[row].ledger < ledger:
            break
        size = add(size, ledgers[row].bytes)
        if ledgers[row].ledger == ledger:
            size -= consumed(ledgers[row].entries, ledgers[row].bytes, entry)
    return size


@compiled_part
def consumed(entries: int, size: int, entry: int) -> int:
    """Bytes of a ledger up to and including `entry`, as the broker estimates them (§2.3)."""
    if entries <= 0 or entry < 0:
        return 0
    return size if entries <= entry + 1 else (entry + 1) * (size // entries)
