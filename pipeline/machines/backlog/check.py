"""A quota check of one topic: what the broker sees, what it decides (§2.5), and the rows that tell it."""

from pipeline.machines.array import Array
from pipeline.machines.backlog.cursors import backlog_entries, unexplained
from pipeline.machines.backlog.deleted import count_bits
from pipeline.machines.backlog.heap import slowest
from pipeline.machines.backlog.layout import (
    BITS,
    BY_LOG,
    C_ACKNOWLEDGED,
    C_BEGAN_COMPLETE,
    C_DELETED,
    C_DELETED_UNKNOWN,
    C_DISPATCHED_ENTRIES,
    C_DISPATCHED_MSGS,
    C_DURABLE,
    C_ENTRY,
    C_EVICTED,
    C_EXPIRED,
    C_ID,
    C_LEDGER,
    C_LOSSES_AT_OPEN,
    C_NEXT_OF_TOPIC,
    C_OPENED_AT,
    C_OPENED_BACKLOG,
    C_OPENED_END,
    C_SOUGHT,
    C_UNACKED,
    C_WORDS,
    EVICT,
    G_ENTRIES_BEFORE,
    G_LEDGER,
    KNOWN,
    M_ENTRIES,
    M_ENTRY,
    M_MSGS,
    NONE,
    NOTHING,
    S_CHECK_NUMBER,
    S_LOSSES,
    S_OUT_CHECKS,
    S_OUT_CURSORS,
    S_TOPICS,
    S_VERSION,
    SIZE,
    T_ALIVE,
    T_BEGAN_COMPLETE,
    T_CURSORS,
    T_DECIDED,
    T_DECIDED_ACTION,
    T_DECISION,
    T_END_ENTRIES,
    T_EVICTIONS_SIZE,
    T_EVICTIONS_SIZE_DURABLE,
    T_EVICTIONS_TIME,
    T_EVICTIONS_TIME_DURABLE,
    T_FIRST_CURSOR,
    T_ID,
    T_LOSSES_AT_START,
    T_MARKS,
    T_OLDEST,
    T_OLDEST_MS,
    T_OLDEST_SUB,
    T_PRODUCERS,
    T_SIZE_LIMIT,
    T_SIZE_POLICY,
    T_TIME_LIMIT,
    T_TIME_POLICY,
    TIME,
    UNKNOWN,
    UNKNOWN_TIME,
    W_BITS,
    W_LEDGER,
    W_WORD,
)
from pipeline.machines.backlog.ledgers import first_entries_before, place_of, row_of_place, size_behind, storage_size
from pipeline.machines.backlog.marks import ends_before, msgs_before, msgs_from, stands_for
from pipeline.machines.backlog.oldest import oldest_unacknowledged
from pipeline.machines.backlog.state import State
from pipeline.machines.blocks import Blocks, following, last_at_or_before
from pipeline.machines.compiled import compiled, compiled_part
from pipeline.machines.machine import NULL

MS_PER_S = 1000
US_PER_MS = 1000
#: Versions from which on a subscription's size leaves out individually deleted entries (by the dates of releases).
LESS_DELETED_4_0, LESS_DELETED_4_1 = 4_000_009, 4_001_003


@compiled_part
def put_row(rows: Array, row: int, values: tuple[int, ...]) -> None:
    """Write a row of as many columns as `values`."""
    for column in range(len(values)):
        rows[row, column] = values[column]


@compiled_part
def backlog_size(topic: Array, ledgers: Array, heap: Array, cursors: Array) -> int:
    """The topic's backlog size in bytes: from the slowest durable cursor's mark-delete position in memory; 0 without one (§2.3)."""
    root = slowest(topic, heap)
    return 0 if root == NONE else size_behind(topic, ledgers, cursors[root, C_LEDGER], cursors[root, C_ENTRY])


@compiled_part
def decide(topic: Array, size: int, now_us: int) -> int:
    """Which quota is exceeded: SIZE if size ≥ limit (limit < 0: never), else TIME if now > oldest + limit (limit ≤ 0: never), else 0.

    UNKNOWN if the log does not tell the topic's life, its quotas, or the oldest entry's publish time.
    """
    if topic[T_ALIVE] == 0 or topic[T_SIZE_POLICY] == NONE:
        return UNKNOWN
    if 0 <= topic[T_SIZE_LIMIT] <= size:
        return SIZE
    if topic[T_TIME_LIMIT] <= 0 or topic[T_OLDEST] == NOTHING:
        return 0
    if topic[T_OLDEST] == UNKNOWN_TIME:
        return UNKNOWN
    return TIME if now_us // US_PER_MS > topic[T_OLDEST_MS] + topic[T_TIME_LIMIT] * MS_PER_S else 0


@compiled_part
def age_s(topic: Array, now_us: int) -> int:
    """The age that the broker shows at this moment: whole seconds since the cached time, −1 = none (§2.4); NULL: the log does not tell."""
    if topic[T_OLDEST] == NOTHING:
        return -1
    if topic[T_OLDEST] != KNOWN:
        return NULL
    age_ms = now_us // US_PER_MS - topic[T_OLDEST_MS]
    # Towards zero, as Java divides: half a second ahead is 0, not −1, which means none.
    return age_ms // MS_PER_S if age_ms >= 0 else -(-age_ms // MS_PER_S)


@compiled_part
def report_check(state: State, t: int, now_us: int, decision: int, source: int, under_way: int) -> None:
    """Rows of `topic_backlog` and `subscription_backlog`, columns in their tables' order. `under_way`: SIZE or TIME if an eviction of the
    topic goes on that the broker does not count yet.
    """
    topic, scalars = state.topics[t], state.scalars
    true_oldest = NULL
    c = topic[T_FIRST_CURSOR]
    while c != NONE:
        oldest_ms = _report_cursor(state, t, c, now_us)
        if oldest_ms != NULL and (true_oldest == NULL or oldest_ms < true_oldest):
            true_oldest = oldest_ms
        c = state.cursors[c, C_NEXT_OF_TOPIC]
    by_size, by_time = 1 if under_way == SIZE else 0, 1 if under_way == TIME else 0
    alive = topic[T_ALIVE] == 1
    told = topic[T_SIZE_POLICY] != NONE
    has_oldest = alive and topic[T_OLDEST] != NOTHING
    put_row(
        state.out_checks,
        scalars[S_OUT_CHECKS],
        (
            topic[T_ID],
            topic[T_OLDEST_SUB] if has_oldest else 0,
            0,
            now_us,
            scalars[S_CHECK_NUMBER],
            source,
            backlog_size(topic, state.ledgers, state.heap, state.cursors) if alive else NULL,
            storage_size(topic, state.ledgers) if alive else NULL,
            topic[T_SIZE_LIMIT] if told else NULL,
            topic[T_TIME_LIMIT] if told else NULL,
            topic[T_SIZE_POLICY] if told else NULL,
            topic[T_TIME_POLICY] if told else NULL,
            age_s(topic, now_us) if alive else NULL,
            topic[T_OLDEST_MS] * US_PER_MS if has_oldest and topic[T_OLDEST] == KNOWN else NULL,
            true_oldest * US_PER_MS if true_oldest != NULL else NULL,
            topic[T_CURSORS],
            topic[T_PRODUCERS],
            decision,
            topic[T_EVICTIONS_SIZE] - by_size,
            topic[T_EVICTIONS_SIZE_DURABLE] - by_size,
            topic[T_EVICTIONS_TIME] - by_time,
            topic[T_EVICTIONS_TIME_DURABLE] - by_time,
            is_complete(topic, scalars),
        ),
    )
    scalars[S_OUT_CHECKS] += 1


@compiled_part
def is_complete(topic: Array, scalars: Array) -> int:
    """1 if the topic's load was seen and nothing of the broker was lost since."""
    return 1 if topic[T_BEGAN_COMPLETE] == 1 and topic[T_LOSSES_AT_START] == scalars[S_LOSSES] else 0


@compiled_part
def _report_cursor(state: State, t: int, c: int, now_us: int) -> int:
    """One row of `subscription_backlog`; returns the publish time of the cursor's oldest unacknowledged entry, or NULL."""
    topic, cursor, scalars = state.topics[t], state.cursors[c], state.scalars
    entries = backlog_entries(topic, state.ledgers, cursor)
    oldest_ms, exact_to_ms = oldest_unacknowledged(topic, state.ledgers, state.marks, cursor, state.words)
    seen = cursor[C_BEGAN_COMPLETE] == 1 and cursor[C_LOSSES_AT_OPEN] == scalars[S_LOSSES] and cursor[C_DELETED_UNKNOWN] == 0
    put_row(
        state.out_cursors,
        scalars[S_OUT_CURSORS],
        (
            topic[T_ID],
            cursor[C_ID],
            0,
            now_us,
            scalars[S_CHECK_NUMBER],
            cursor[C_OPENED_AT],
            cursor[C_DURABLE],
            entries,
            backlog_messages(state, topic, cursor, entries),
            subscription_size(state, topic, cursor, entries),
            oldest_ms * US_PER_MS if oldest_ms != NULL else NULL,
            now_us // US_PER_MS - oldest_ms if oldest_ms != NULL else NULL,
            exact_to_ms,
            cursor[C_LEDGER],
            cursor[C_ENTRY],
            cursor[C_DELETED] + cursor[C_DELETED_UNKNOWN],
            min(cursor[C_UNACKED], entries),
            cursor[C_DISPATCHED_ENTRIES],
            cursor[C_DISPATCHED_MSGS],
            cursor[C_OPENED_BACKLOG],
            topic[T_END_ENTRIES] - cursor[C_OPENED_END],
            cursor[C_ACKNOWLEDGED],
            cursor[C_EVICTED],
            cursor[C_EXPIRED],
            cursor[C_SOUGHT],
            unexplained(topic, cursor, entries),
            1 if seen and is_complete(topic, scalars) == 1 else 0,
        ),
    )
    scalars[S_OUT_CURSORS] += 1
    return oldest_ms


@compiled_part
def subscription_size(state: State, topic: Array, cursor: Array, entries: int) -> int:
    """The broker's estimate of a subscription's bytes. Newer brokers take individually deleted entries off, each at the backlog's average
    (#25089); 4.0.8 does not. `entries`: the backlog less those.
    """
    size = size_behind(topic, state.ledgers, cursor[C_LEDGER], cursor[C_ENTRY])
    deleted = cursor[C_DELETED] + cursor[C_DELETED_UNKNOWN]
    version = state.scalars[S_VERSION]
    subtracts = version == 0 or LESS_DELETED_4_0 <= version < 4_001_000 or version >= LESS_DELETED_4_1
    return max(0, size - deleted * (size // (entries + deleted))) if subtracts and deleted > 0 else size


@compiled_part
def backlog_messages(state: State, topic: Array, cursor: Array, entries: int) -> int:
    """Messages in the cursor's backlog; NULL where an entry of it, or which ones are acknowledged, is not known."""
    if entries == 0:
        return 0
    ledgers, marks = state.ledgers, state.marks
    if cursor[C_DELETED_UNKNOWN] > 0:
        return NULL
    place = max(place_of(topic, ledgers, cursor[C_LEDGER], cursor[C_ENTRY]), first_entries_before(topic, ledgers))
    row = row_of_place(topic, ledgers, place)
    oldest = place - ledgers[row, G_ENTRIES_BEFORE]
    messages = msgs_from(topic, marks, ledgers[row, G_LEDGER], oldest)
    deleted = _deleted_messages(topic, marks, cursor, state.words)
    return messages - deleted if messages >= 0 and deleted >= 0 else NULL


@compiled_part
def _deleted_messages(topic: Array, marks: Blocks, cursor: Array, words: Blocks) -> int:
    """Messages of the cursor's individually deleted entries: words and marks are walked side by side; −1 if an entry is not known."""
    messages = 0
    block, row = following(cursor, C_WORDS, words, NONE, NONE)
    if row < 0:
        return 0
    mark_block, mark = last_at_or_before(topic, T_MARKS, marks, words.rows[row, W_LEDGER], words.rows[row, W_WORD] * BITS)
    if mark < 0:
        mark_block, mark = following(topic, T_MARKS, marks, NONE, NONE)
    while row >= 0:
        ledger, bits, entry = words.rows[row, W_LEDGER], words.rows[row, W_BITS], words.rows[row, W_WORD] * BITS
        while bits != 0:
            zeros = count_bits((bits & -bits) - 1)  # below its lowest one
            bits >>= zeros
            entry += zeros
            while mark >= 0 and ends_before(marks.rows[mark], ledger, entry):
                mark_block, mark = following(topic, T_MARKS, marks, mark_block, mark)
            if mark < 0 or not stands_for(marks.rows[mark], ledger, entry):
                return -1
            taken = min(BITS, marks.rows[mark, M_ENTRY] + marks.rows[mark, M_ENTRIES] - entry)  # entries of the word in this mark
            messages += _messages_of(marks.rows[mark], entry, bits & ((1 << taken) - 1))
            bits >>= taken
            entry += taken
        block, row = following(cursor, C_WORDS, words, block, row)
    return messages


@compiled_part
def _messages_of(mark: Array, entry: int, bits: int) -> int:
    """Messages of the entries whose bits are set, the lowest one for `entry`; all are the mark's."""
    if mark[M_MSGS] % mark[M_ENTRIES] == 0:
        return mark[M_MSGS] // mark[M_ENTRIES] * count_bits(bits)
    messages = 0
    while bits != 0:
        if bits & 1:
            messages += msgs_before(mark, entry + 1) - msgs_before(mark, entry)
        bits >>= 1
        entry += 1
    return messages


@compiled
def probe_all(state: State, now_us: int) -> None:
    """Report every loaded topic as it is, with the age that the broker would show now. Nothing is looked up anew and nothing decided."""
    for t in range(state.scalars[S_TOPICS]):
        if state.topics[t, T_ALIVE] == 1:
            topic = state.topics[t]
            decision = decide(topic, backlog_size(topic, state.ledgers, state.heap, state.cursors), now_us)
            # The broker counts an eviction when the attempt is over (§2.6).
            is_evicting = topic[T_DECIDED] > 0 and topic[T_DECISION] != 0 and topic[T_DECIDED_ACTION] == EVICT
            report_check(state, t, now_us, decision, BY_LOG, topic[T_DECISION] if is_evicting else 0)
