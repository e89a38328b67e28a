"""Where a subscription reads, on its topic's scale of published entries: enough to know whether anybody waited for more.

Laws: `read` never passes `published`; a position in a ledger that is not known (trimmed, or never seen) moves nothing. docs/throttling.md,
"Binding and nominal", has the formula.
"""

from pipeline.machines.array import Array
from pipeline.machines.compiled import compiled
from pipeline.machines.index import EMPTY, find, insert
from pipeline.machines.integers import add, multiply_divide
from pipeline.machines.throttle.layout import (
    D_CONSUMERS,
    D_CURSOR_KNOWN,
    D_DELETED_BYTES,
    D_DELETED_ENTRIES,
    D_READ_BYTES,
    D_READ_ENTRIES,
    G_BYTES,
    G_BYTES_BEFORE,
    G_ENTRIES,
    G_ENTRIES_BEFORE,
    G_GENERATION,
    G_LEDGER,
    G_TOPIC,
    NONE,
    S_LEDGERS,
    T_GENERATION,
    T_ID,
    T_PUBLISHED_BYTES,
    T_PUBLISHED_ENTRIES,
)
from pipeline.machines.throttle.state import State


@compiled
def known_ledger(ledgers: Array, ledger_index: Array, topics: Array, t: int, ledger: int) -> int:
    """Row of the topic's ledger, or EMPTY if it is not one of this load of the topic."""
    g = find(ledger_index, ledgers, G_TOPIC, G_LEDGER, topics[t, T_ID], ledger)
    if g != EMPTY and ledgers[g, G_GENERATION] != topics[t, T_GENERATION]:
        return EMPTY
    return g


@compiled
def open_ledger(state: State, t: int, ledger: int) -> int:
    """Row for a ledger of the topic that is not known: empty, at the end of the scale."""
    ledgers, topics = state.ledgers, state.topics
    g = find(state.ledger_index, ledgers, G_TOPIC, G_LEDGER, topics[t, T_ID], ledger)
    if g == EMPTY:
        g = state.scalars[S_LEDGERS]
        state.scalars[S_LEDGERS] += 1
        ledgers[g, G_TOPIC] = topics[t, T_ID]
        ledgers[g, G_LEDGER] = ledger
        insert(state.ledger_index, topics[t, T_ID], ledger, g)
    ledgers[g, G_GENERATION] = topics[t, T_GENERATION]
    ledgers[g, G_ENTRIES_BEFORE] = topics[t, T_PUBLISHED_ENTRIES]
    ledgers[g, G_BYTES_BEFORE] = topics[t, T_PUBLISHED_BYTES]
    ledgers[g, G_ENTRIES] = 0
    ledgers[g, G_BYTES] = 0
    return g


@compiled
def forget_ledger(ledgers: Array, g: int) -> None:
    """A ledger was trimmed; what was published stays on the scale."""
    ledgers[g, G_GENERATION] = NONE


@compiled
def publish(ledgers: Array, g: int, topics: Array, t: int, entries: int, size: int) -> None:
    """Append `entries` of together `size` bytes to ledger `g` and to its topic's scale."""
    ledgers[g, G_ENTRIES] = add(ledgers[g, G_ENTRIES], entries)
    ledgers[g, G_BYTES] = add(ledgers[g, G_BYTES], size)
    topics[t, T_PUBLISHED_ENTRIES] = add(topics[t, T_PUBLISHED_ENTRIES], entries)
    topics[t, T_PUBLISHED_BYTES] = add(topics[t, T_PUBLISHED_BYTES], size)


@compiled
def entries_up_to(ledgers: Array, g: int, entry: int) -> int:
    """Entries of the topic up to and including `entry` of ledger `g`."""
    return add(ledgers[g, G_ENTRIES_BEFORE], ledgers[g, G_ENTRIES] if entry >= ledgers[g, G_ENTRIES] else entry + 1)


@compiled
def bytes_up_to(ledgers: Array, g: int, entry: int) -> int:
    """The same in bytes: inside a ledger by its integer average, as Pulsar does (§2.3)."""
    entries = ledgers[g, G_ENTRIES]
    if entry >= entries - 1:
        return add(ledgers[g, G_BYTES_BEFORE], ledgers[g, G_BYTES])
    return add(ledgers[g, G_BYTES_BEFORE], (entry + 1) * (ledgers[g, G_BYTES] // entries))


@compiled
def read_up_to(dispatchers: Array, d: int, topics: Array, t: int, entries: int, size: int) -> None:
    """Put the read position on (`entries`, `size`) of the scale, never beyond what is published."""
    published_entries, published_bytes = topics[t, T_PUBLISHED_ENTRIES], topics[t, T_PUBLISHED_BYTES]
    at_end = entries >= published_entries
    dispatchers[d, D_READ_ENTRIES] = published_entries if at_end else entries
    dispatchers[d, D_READ_BYTES] = published_bytes if at_end else min(size, published_bytes)


@compiled
def meet_cursor(dispatchers: Array, d: int, topics: Array, t: int) -> None:
    """A subscription whose cursor was never opened in the log starts where its topic stands now."""
    if dispatchers[d, D_CURSOR_KNOWN] == 0:
        dispatchers[d, D_CURSOR_KNOWN] = 1
        dispatchers[d, D_READ_ENTRIES] = topics[t, T_PUBLISHED_ENTRIES]
        dispatchers[d, D_READ_BYTES] = topics[t, T_PUBLISHED_BYTES]
        dispatchers[d, D_DELETED_ENTRIES] = topics[t, T_PUBLISHED_ENTRIES]
        dispatchers[d, D_DELETED_BYTES] = topics[t, T_PUBLISHED_BYTES]


@compiled
def open_cursor(state: State, t: int, d: int, g: int, entry: int, deleted_behind: int) -> None:
    """A cursor at its mark-delete position, `deleted_behind` entries beyond it individually deleted."""
    dispatchers, ledgers, topics = state.dispatchers, state.ledgers, state.topics
    dispatchers[d, D_CURSOR_KNOWN] = 0
    meet_cursor(dispatchers, d, topics, t)
    dispatchers[d, D_CONSUMERS] = 0
    if g == EMPTY:
        return
    average = ledgers[g, G_BYTES] // ledgers[g, G_ENTRIES] if ledgers[g, G_ENTRIES] > 0 else 0
    entries = entries_up_to(ledgers, g, entry)
    size = bytes_up_to(ledgers, g, entry)
    dispatchers[d, D_DELETED_ENTRIES] = entries
    dispatchers[d, D_DELETED_BYTES] = size
    read_up_to(dispatchers, d, topics, t, add(entries, deleted_behind), add(size, multiply_divide(deleted_behind, average, 1)[0]))


@compiled
def mark_delete(state: State, t: int, d: int, g: int, entry: int, is_seek: bool) -> None:
    """The mark-delete position moved in memory: reading goes on beyond it, or from it after a seek."""
    entries = entries_up_to(state.ledgers, g, entry)
    size = bytes_up_to(state.ledgers, g, entry)
    state.dispatchers[d, D_DELETED_ENTRIES] = entries
    state.dispatchers[d, D_DELETED_BYTES] = size
    if is_seek or entries > state.dispatchers[d, D_READ_ENTRIES]:
        read_up_to(state.dispatchers, d, state.topics, t, entries, size)


@compiled
def count_consumer(dispatchers: Array, d: int, topics: Array, t: int, opened: bool) -> None:
    """Consumers come and go; when the last one leaves the broker rewinds the cursor to its mark-delete position."""
    if opened:
        dispatchers[d, D_CONSUMERS] += 1
        return
    dispatchers[d, D_CONSUMERS] = max(0, dispatchers[d, D_CONSUMERS] - 1)
    if dispatchers[d, D_CONSUMERS] == 0:
        read_up_to(dispatchers, d, topics, t, dispatchers[d, D_DELETED_ENTRIES], dispatchers[d, D_DELETED_BYTES])
