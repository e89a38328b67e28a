"""A topic's ledgers, ascending, and its scale: every entry the topic ever had has a place on it, and so has every position between entries.

Laws: places never change when ledgers are trimmed; `end` is the sum of all ledgers, trimmed ones too.
"""

from pipeline.machines.array import Array
from pipeline.machines.backlog.layout import (
    G_BYTES,
    G_BYTES_BEFORE,
    G_CLOSE_MS,
    G_CLOSED,
    G_ENTRIES,
    G_ENTRIES_BEFORE,
    G_LEDGER,
    T_END_BYTES,
    T_END_ENTRIES,
    T_LEDGERS,
    T_LEDGERS_USED,
)
from pipeline.machines.compiled import compiled_part
from pipeline.machines.integers import add
from pipeline.machines.segments import first_row, insert_row, remove_row


@compiled_part
def lower_bound(topic: Array, ledgers: Array, ledger: int) -> int:
    """How many of the topic's ledgers have a smaller id; the last ones are looked at first."""
    used, first = topic[T_LEDGERS_USED], first_row(topic, T_LEDGERS)
    if used == 0 or ledgers[first + used - 1, G_LEDGER] < ledger:
        return used
    if used == 1 or ledgers[first + used - 2, G_LEDGER] < ledger:
        return used - 1
    low, high = 0, used
    while low < high:
        middle = (low + high) // 2
        if ledgers[first + middle, G_LEDGER] < ledger:
            low = middle + 1
        else:
            high = middle
    return low


@compiled_part
def row_at(topic: Array, ledgers: Array, position: int, ledger: int) -> int:
    """Row of the ledger if it is the `position`-th (as `lower_bound` says), else −1: it is not one of the topic's."""
    row = first_row(topic, T_LEDGERS) + position
    return row if position < topic[T_LEDGERS_USED] and ledgers[row, G_LEDGER] == ledger else -1


@compiled_part
def find_ledger(topic: Array, ledgers: Array, ledger: int) -> int:
    """Row of the topic's ledger, or −1."""
    return row_at(topic, ledgers, lower_bound(topic, ledgers, ledger), ledger)


@compiled_part
def first_entries_before(topic: Array, ledgers: Array) -> int:
    """Place on the scale where the topic's first ledger begins: what lies before was trimmed."""
    return ledgers[first_row(topic, T_LEDGERS), G_ENTRIES_BEFORE] if topic[T_LEDGERS_USED] > 0 else topic[T_END_ENTRIES]


@compiled_part
def place_of(topic: Array, ledgers: Array, ledger: int, entry: int) -> int:
    """Entries of the topic up to and including position (`ledger`, `entry`); in a ledger that is gone: up to the next one's beginning."""
    position = lower_bound(topic, ledgers, ledger)
    if position == topic[T_LEDGERS_USED]:
        return topic[T_END_ENTRIES]
    row = first_row(topic, T_LEDGERS) + position
    before = ledgers[row, G_ENTRIES_BEFORE]
    return before if ledgers[row, G_LEDGER] != ledger else before + min(entry + 1, ledgers[row, G_ENTRIES])


@compiled_part
def row_of_place(topic: Array, ledgers: Array, place: int) -> int:
    """Row of the ledger that holds the entry after `place` entries of the scale, or −1 if there is none."""
    used, first = topic[T_LEDGERS_USED], first_row(topic, T_LEDGERS)
    if place >= topic[T_END_ENTRIES] or used == 0:
        return -1
    low, high = 0, used  # the last ledger that begins at or before `place` and is not empty holds it
    while low < high:
        middle = (low + high) // 2
        if ledgers[first + middle, G_ENTRIES_BEFORE] + ledgers[first + middle, G_ENTRIES] <= place:
            low = middle + 1
        else:
            high = middle
    return first + low


@compiled_part
def meet_ledger(topic: Array, ledgers: Array, ends: Array, ledger: int) -> int:
    """Row of the ledger, made empty in its order if it is not known."""
    position = lower_bound(topic, ledgers, ledger)
    row = row_at(topic, ledgers, position, ledger)
    if row >= 0:
        return row
    row = insert_row(topic, T_LEDGERS, ledgers, ends, position)
    ledgers[row, G_LEDGER] = ledger
    if position + 1 < topic[T_LEDGERS_USED]:
        ledgers[row, G_ENTRIES_BEFORE] = ledgers[row + 1, G_ENTRIES_BEFORE]
        ledgers[row, G_BYTES_BEFORE] = ledgers[row + 1, G_BYTES_BEFORE]
    else:
        ledgers[row, G_ENTRIES_BEFORE] = topic[T_END_ENTRIES]
        ledgers[row, G_BYTES_BEFORE] = topic[T_END_BYTES]
    return row


@compiled_part
def grow_ledger(topic: Array, ledgers: Array, row: int, entries: int, size: int) -> None:
    """`entries` of together `size` bytes more (or fewer) in the ledger: what follows it on the scale moves."""
    ledgers[row, G_ENTRIES] = add(ledgers[row, G_ENTRIES], entries)
    ledgers[row, G_BYTES] = add(ledgers[row, G_BYTES], size)
    topic[T_END_ENTRIES] = add(topic[T_END_ENTRIES], entries)
    topic[T_END_BYTES] = add(topic[T_END_BYTES], size)
    for later in range(row + 1, first_row(topic, T_LEDGERS) + topic[T_LEDGERS_USED]):
        ledgers[later, G_ENTRIES_BEFORE] = add(ledgers[later, G_ENTRIES_BEFORE], entries)
        ledgers[later, G_BYTES_BEFORE] = add(ledgers[later, G_BYTES_BEFORE], size)


@compiled_part
def close_ledger(topic: Array, ledgers: Array, row: int, entries: int, size: int, close_ms: int) -> None:
    """The ledger is closed with these totals."""
    grow_ledger(topic, ledgers, row, entries - ledgers[row, G_ENTRIES], size - ledgers[row, G_BYTES])
    ledgers[row, G_CLOSE_MS] = close_ms
    ledgers[row, G_CLOSED] = 1


@compiled_part
def trim_ledger(topic: Array, ledgers: Array, ledger: int) -> None:
    """The ledger is gone from the list; its entries keep their places."""
    position = lower_bound(topic, ledgers, ledger)
    if row_at(topic, ledgers, position, ledger) >= 0:
        remove_row(topic, T_LEDGERS, ledgers, position)


@compiled_part
def storage_size(topic: Array, ledgers: Array) -> int:
    """Bytes of all ledgers in the list."""
    total = 0
    first = first_row(topic, T_LEDGERS)
    for row in range(first, first + topic[T_LEDGERS_USED]):
        total = add(total, ledgers[row, G_BYTES])
    return total


@compiled_part
def size_behind(topic: Array, ledgers: Array, ledger: int, entry: int) -> int:
    """The broker's estimate of the bytes behind a mark-delete position (§2.3): whole ledgers, and inside a ledger its integer average.

    If the position's ledger is gone, nothing is taken off for it.
    """
    size = 0
    first = first_row(topic, T_LEDGERS)
    for row in range(first + topic[T_LEDGERS_USED] - 1, first - 1, -1):
        if ledgers[row, G_LEDGER] < ledger:
            break
        size = add(size, ledgers[row, G_BYTES])
        if ledgers[row, G_LEDGER] == ledger:
            size -= consumed(ledgers[row, G_ENTRIES], ledgers[row, G_BYTES], entry)
    return size


@compiled_part
def consumed(entries: int, size: int, entry: int) -> int:
    """Bytes of a ledger up to and including `entry`, as the broker estimates them (§2.3)."""
    if entries <= 0 or entry < 0:
        return 0
    return size if entries <= entry + 1 else (entry + 1) * (size // entries)
