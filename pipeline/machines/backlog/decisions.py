"""Decisions of quota checks, and beside each what the broker did until it is resolved.

A check is decided just before the broker acts: at its `quota_exceeded`, or else before the first mark-delete of the round that no
acknowledgement explains, or else when the check is done. `quota_exceeded` says when, never what: without it decisions are the same.
"""

from pipeline.machines.array import Array
from pipeline.machines.backlog.check import MS_PER_S, US_PER_MS, backlog_size, decide, is_complete, put_row, report_check
from pipeline.machines.backlog.cursors import is_behind
from pipeline.machines.backlog.eviction import forget_plan, plan_eviction, reaches, reaches_target
from pipeline.machines.backlog.heap import slowest
from pipeline.machines.backlog.layout import (
    BY_LOG,
    C_ENTRY,
    C_FROM_ENTRY,
    C_FROM_LEDGER,
    C_ID,
    C_LEDGER,
    C_MOVED,
    C_MOVED_ENTRIES,
    C_NEXT_OF_TOPIC,
    C_OWNER,
    C_PLANNED,
    C_PLANNED_ENTRIES,
    C_PLANNED_ENTRY,
    C_PLANNED_LEDGER,
    C_REACHED_ENTRY,
    C_REACHED_LEDGER,
    C_REACHED_TARGET,
    CURSOR_COLUMNS,
    DISCONNECT,
    EVICT,
    EVICTION,
    FIRST_DECISION_COLUMN,
    FIRST_MOVE_COLUMN,
    NO_ACTION,
    NONE,
    S_CHECK_NUMBER,
    S_OUT_DECISIONS,
    S_OUT_MOVES,
    S_PRECISE,
    SIZE,
    SNAPSHOT,
    T_ALIVE,
    T_BROKER_LIMIT,
    T_BROKER_POLICY,
    T_BROKER_QUOTA,
    T_DECIDED,
    T_DECIDED_ACTION,
    T_DECIDED_AT,
    T_DECIDED_LIMIT,
    T_DECIDED_NUMBER,
    T_DECIDED_POLICY,
    T_DECISION,
    T_EVICTIONS_SIZE,
    T_EVICTIONS_SIZE_DURABLE,
    T_EVICTIONS_TIME,
    T_EVICTIONS_TIME_DURABLE,
    T_EXCEEDED_BY,
    T_FIRST_CURSOR,
    T_ID,
    T_OLDEST_MS,
    T_PRODUCERS,
    T_PRODUCERS_BEFORE,
    T_PRODUCERS_CLOSED,
    T_SIZE_BEFORE,
    T_SIZE_LIMIT,
    T_SIZE_PLANNED,
    T_SIZE_POLICY,
    T_TARGET,
    T_TIME_LIMIT,
    T_TIME_POLICY,
    TIME,
    TOPIC_COLUMNS,
)
from pipeline.machines.backlog.oldest import update_oldest
from pipeline.machines.backlog.state import State
from pipeline.machines.compiled import compiled, compiled_part
from pipeline.machines.machine import NULL

DEDUPLICATION = 1  # CURSOR_OWNERS
# DISAGREEMENTS
AGREE, DID_NOT_ACT, ACTED_ALONE, OTHER_TYPE, OTHER_POLICY, OTHER_LIMIT, OTHER_TARGET = range(7)


@compiled_part
def begin_check(state: State, t: int, now_us: int, source: int) -> int:
    """A check of the topic at `now_us`: tells what it sees, and starts the decision if there is one. Returns the decision."""
    topic, scalars = state.topics[t], state.scalars
    resolve(state, t, now_us)
    scalars[S_CHECK_NUMBER] += 1
    is_readable = True
    if topic[T_ALIVE] == 1:
        is_readable = update_oldest(topic, state.ledgers, state.marks, state.heap, state.cursors, scalars[S_PRECISE] == 1)
    size = backlog_size(topic, state.ledgers, state.heap, state.cursors)
    decision = decide(topic, size, now_us) if is_readable else 0
    if decision in (SIZE, TIME):
        _start_decision(state, t, decision, size, now_us)
    report_check(state, t, now_us, decision, source, 0)
    return decision


@compiled_part
def would_evict(state: State, t: int, c: int, ledger: int, entry: int, now_us: int) -> bool:
    """Whether a check at this moment would evict, and move cursor `c` at least to (`ledger`, `entry`); decides nothing."""
    topic = state.topics[t].copy()
    if topic[T_ALIVE] == 0:
        return False
    if not update_oldest(topic, state.ledgers, state.marks, state.heap, state.cursors, state.scalars[S_PRECISE] == 1):
        return False
    decision = decide(topic, backlog_size(topic, state.ledgers, state.heap, state.cursors), now_us)
    policy = topic[T_SIZE_POLICY] if decision == SIZE else topic[T_TIME_POLICY]
    if decision not in (SIZE, TIME) or policy != EVICTION:
        return False
    if topic[T_DECISION] != 0:
        return True  # the eviction before goes on: its plan must stay
    plan_eviction(state, t, decision, now_us // US_PER_MS)
    within = reaches(state, t, c, decision, ledger, entry, now_us // US_PER_MS)
    forget_plan(state, t)
    return within


@compiled_part
def eviction_explains(state: State, t: int, c: int, ledger: int, entry: int, now_us: int) -> bool:
    """Whether the eviction that waits to be resolved may have moved cursor `c` to (`ledger`, `entry`).

    What the broker decided alone may. One whose check is done goes on in the background until the cursor is where it was to go.
    """
    topic, cursor = state.topics[t], state.cursors[c]
    if topic[T_DECISION] == 0:
        return topic[T_BROKER_QUOTA] != 0 and topic[T_BROKER_POLICY] == EVICTION
    if topic[T_DECIDED_ACTION] != EVICT:
        return False
    if topic[T_DECIDED] == 0 and not is_behind(cursor, cursor[C_PLANNED_LEDGER], cursor[C_PLANNED_ENTRY]):
        return False
    return reaches(state, t, c, topic[T_DECISION], ledger, entry, now_us // US_PER_MS)


@compiled_part
def _start_decision(state: State, t: int, decision: int, size: int, now_us: int) -> None:
    topic = state.topics[t]
    is_size = decision == SIZE
    policy = topic[T_SIZE_POLICY] if is_size else topic[T_TIME_POLICY]
    limit = topic[T_SIZE_LIMIT] if is_size else topic[T_TIME_LIMIT]
    topic[T_DECISION], topic[T_DECIDED_AT], topic[T_DECIDED_NUMBER] = decision, now_us, state.scalars[S_CHECK_NUMBER]
    topic[T_DECIDED_POLICY], topic[T_DECIDED_LIMIT] = policy, limit
    topic[T_EXCEEDED_BY] = size - limit if is_size else now_us // US_PER_MS - topic[T_OLDEST_MS] - limit * MS_PER_S
    topic[T_SIZE_BEFORE], topic[T_SIZE_PLANNED], topic[T_TARGET] = size, size, NULL
    topic[T_PRODUCERS_BEFORE], topic[T_PRODUCERS_CLOSED] = topic[T_PRODUCERS], 0
    if policy == EVICTION:
        topic[T_DECIDED_ACTION] = EVICT
        topic[T_EVICTIONS_SIZE if is_size else T_EVICTIONS_TIME] += 1
        topic[T_EVICTIONS_SIZE_DURABLE if is_size else T_EVICTIONS_TIME_DURABLE] += 1
        plan_eviction(state, t, decision, now_us // US_PER_MS)
        return
    root = slowest(topic, state.heap)
    is_deduplication = root != NONE and state.cursors[root, C_OWNER] == DEDUPLICATION
    topic[T_DECIDED_ACTION] = SNAPSHOT if is_deduplication else DISCONNECT


@compiled_part
def note_exceeded(state: State, t: int, now_us: int, quota: int, policy: int, limit: int) -> None:
    """`quota_exceeded`: the broker acts now."""
    topic = state.topics[t]
    if topic[T_DECIDED] == 0:
        begin_check(state, t, now_us, BY_LOG)
        topic[T_DECIDED] = 1
    if topic[T_DECISION] == 0:
        # The rules say nothing happens: remembered as a decision that is the broker's alone.
        topic[T_DECIDED_AT], topic[T_DECIDED_NUMBER] = now_us, state.scalars[S_CHECK_NUMBER]
        topic[T_SIZE_BEFORE] = backlog_size(topic, state.ledgers, state.heap, state.cursors) if topic[T_ALIVE] == 1 else NULL
        topic[T_SIZE_PLANNED], topic[T_TARGET] = topic[T_SIZE_BEFORE], NULL
        topic[T_PRODUCERS_BEFORE] = topic[T_PRODUCERS]
    topic[T_BROKER_QUOTA], topic[T_BROKER_POLICY], topic[T_BROKER_LIMIT] = quota + 1, policy, limit


@compiled_part
def note_checked(state: State, t: int, now_us: int) -> None:
    """`quota_check` of a round: the check, its action included, is done."""
    topic = state.topics[t]
    if topic[T_DECIDED] == 0:
        begin_check(state, t, now_us, BY_LOG)
    topic[T_DECIDED] = 0
    # A precise age check goes on evicting in the background.
    if not (topic[T_DECISION] == TIME and state.scalars[S_PRECISE] == 1 and topic[T_DECIDED_ACTION] == EVICT):
        resolve(state, t, now_us)


@compiled_part
def note_reached(state: State, t: int, c: int, ledger: int, entry: int, now_us: int) -> None:
    """An eviction moves the cursor to (`ledger`, `entry`)."""
    cursor, topic = state.cursors[c], state.topics[t]
    if cursor[C_MOVED] == 0:
        cursor[C_FROM_LEDGER], cursor[C_FROM_ENTRY] = cursor[C_LEDGER], cursor[C_ENTRY]
    cursor[C_REACHED_LEDGER], cursor[C_REACHED_ENTRY] = ledger, entry
    cursor[C_REACHED_TARGET] = 1 if reaches_target(state, t, c, topic[T_DECISION], ledger, entry, now_us // US_PER_MS) else 0


@compiled
def resolve(state: State, t: int, now_us: int) -> None:
    """Tell the waiting decision, and what the broker did; nothing if none waits."""
    topic, scalars = state.topics[t], state.scalars
    if topic[T_DECISION] == 0 and topic[T_BROKER_QUOTA] == 0:
        return
    planned, entries_planned, entries_evicted, targets_agree = _resolve_moves(state, t)
    ours = topic[T_DECISION] != 0
    disagreement = _disagreement(topic, targets_agree)
    put_row(
        state.out_decisions,
        scalars[S_OUT_DECISIONS],
        (
            topic[T_ID],
            0,
            0,
            topic[T_DECIDED_AT],
            topic[T_DECIDED_NUMBER],
            now_us,
            (topic[T_DECISION] if ours else topic[T_BROKER_QUOTA]) - 1,
            topic[T_DECIDED_POLICY] if ours else topic[T_BROKER_POLICY],
            topic[T_DECIDED_ACTION] if ours else NO_ACTION,
            topic[T_DECIDED_LIMIT] if ours else topic[T_BROKER_LIMIT],
            topic[T_EXCEEDED_BY],
            topic[T_TARGET],
            topic[T_SIZE_BEFORE],
            topic[T_SIZE_PLANNED],
            planned,
            entries_planned,
            entries_evicted,
            topic[T_PRODUCERS_BEFORE],
            topic[T_PRODUCERS_CLOSED],
            topic[T_BROKER_QUOTA] - 1 if topic[T_BROKER_QUOTA] != 0 else NULL,
            topic[T_BROKER_POLICY] if topic[T_BROKER_QUOTA] != 0 else NULL,
            topic[T_BROKER_LIMIT] if topic[T_BROKER_QUOTA] != 0 else NULL,
            1 if disagreement == AGREE else 0,
            disagreement,
            is_complete(topic, scalars),
        ),
    )
    scalars[S_OUT_DECISIONS] += 1
    for column in range(FIRST_DECISION_COLUMN, len(TOPIC_COLUMNS)):
        topic[column] = 0


@compiled_part
def _disagreement(topic: Array, targets_agree: bool) -> int:
    if topic[T_BROKER_QUOTA] == 0:
        return DID_NOT_ACT
    if topic[T_DECISION] == 0:
        return ACTED_ALONE
    if topic[T_DECISION] != topic[T_BROKER_QUOTA]:
        return OTHER_TYPE
    if topic[T_DECIDED_POLICY] != topic[T_BROKER_POLICY]:
        return OTHER_POLICY
    if topic[T_DECIDED_LIMIT] != topic[T_BROKER_LIMIT]:
        return OTHER_LIMIT
    return AGREE if targets_agree or topic[T_DECIDED_ACTION] != EVICT else OTHER_TARGET


@compiled_part
def _resolve_moves(state: State, t: int) -> tuple[int, int, int, bool]:
    """Rows of the cursors that moved or should have; (cursors planned, entries planned, entries evicted, whether all agree)."""
    topic, cursors, scalars = state.topics[t], state.cursors, state.scalars
    planned, entries_planned, entries_evicted, all_agree = 0, 0, 0, True
    c = topic[T_FIRST_CURSOR]
    while c != NONE:
        cursor = cursors[c]
        is_planned = cursor[C_PLANNED] == 1 and cursor[C_PLANNED_ENTRIES] > 0
        if is_planned or cursor[C_MOVED] == 1:
            agrees = cursor[C_MOVED] == 1 and cursor[C_REACHED_TARGET] == 1
            all_agree = all_agree and agrees
            put_row(
                state.out_moves,
                scalars[S_OUT_MOVES],
                (
                    topic[T_ID],
                    cursor[C_ID],
                    0,
                    topic[T_DECIDED_AT],
                    topic[T_DECIDED_NUMBER],
                    cursor[C_FROM_LEDGER],
                    cursor[C_FROM_ENTRY],
                    cursor[C_PLANNED_LEDGER] if is_planned else NULL,
                    cursor[C_PLANNED_ENTRY] if is_planned else NULL,
                    cursor[C_PLANNED_ENTRIES] if is_planned else 0,
                    cursor[C_REACHED_LEDGER] if cursor[C_MOVED] == 1 else NULL,
                    cursor[C_REACHED_ENTRY] if cursor[C_MOVED] == 1 else NULL,
                    cursor[C_MOVED_ENTRIES],
                    1 if agrees else 0,
                ),
            )
            scalars[S_OUT_MOVES] += 1
            planned += 1 if is_planned else 0
            entries_planned += cursor[C_PLANNED_ENTRIES] if is_planned else 0
            entries_evicted += cursor[C_MOVED_ENTRIES]
        for column in range(FIRST_MOVE_COLUMN, len(CURSOR_COLUMNS)):
            cursor[column] = 0
        c = cursor[C_NEXT_OF_TOPIC]
    return planned, entries_planned, entries_evicted, all_agree
