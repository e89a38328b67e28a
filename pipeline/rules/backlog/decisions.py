"""Decisions of quota checks, and beside each what the broker did until it is resolved.

A check is decided just before the broker acts: at its `quota_exceeded`, or else before the first mark-delete of the round that no
acknowledgement explains, or else when the check is done. `quota_exceeded` gives the time of a decision, never the
decision: without it decisions are the same.
"""

from typing import Any

from pipeline.rules.backlog.check import MS_PER_S, US_PER_MS, decide, report_check
from pipeline.rules.backlog.eviction import forget_plan, plan_eviction, reaches, reaches_target
from pipeline.rules.backlog.layout import (
    BY_INTERVAL,
    BY_LOG,
    DISCONNECT,
    EVICT,
    EVICTION,
    NO_ACTION,
    NO_MOVE,
    NOTHING_PENDING,
    SIZE,
    SNAPSHOT,
    TIME,
)
from pipeline.rules.backlog.oldest import update_oldest
from pipeline.rules.backlog.sizes import backlog_size
from pipeline.rules.broker.completeness import DELETIONS_UNKNOWN, incomplete_reason, needed_by
from pipeline.rules.broker.cursors import has_unknown_deletions, is_behind
from pipeline.rules.broker.heap import slowest
from pipeline.rules.broker.layout import DEDUPLICATION, NONE
from pipeline.rules.compiled import compiled, compiled_part
from pipeline.rules.records import Record
from schemas.outcomes import NULL
from schemas.packages.backlog.quotas import QUOTA_EVICTIONS

OF_DECISIONS = needed_by(QUOTA_EVICTIONS.name)
# DISAGREEMENTS
AGREE, DID_NOT_ACT, ACTED_ALONE, OTHER_TYPE, OTHER_POLICY, OTHER_LIMIT, OTHER_TARGET = range(7)


@compiled_part
def begin_check(broker: Any, backlog: Any, counts: Record, t: int, now_us: int, source: int) -> int:
    """A check of the topic at `now_us`: reports what it sees, and starts the decision if there is one. Returns the decision."""
    topic, check = broker.topics[t], backlog.topic_checks[t]
    resolve(broker, backlog, counts, t, now_us)
    backlog.checking[0].check_number += 1
    is_readable = True
    if topic.alive == 1:
        is_readable = update_oldest(check, broker, t)
        is_changed = check.changed_ns >= backlog.checking[0].looked_up_since_ns
        if is_readable:
            check.uncertain = 1 if source == BY_INTERVAL or is_changed else 0
    size = backlog_size(broker, t)
    decision = decide(topic, check, size, now_us) if is_readable else 0
    if decision in (SIZE, TIME):
        _start_decision(broker, backlog, counts, t, decision, size, now_us)
    report_check(broker, backlog, counts, t, now_us, decision, source, 0)
    return decision


@compiled_part
def would_evict(broker: Any, backlog: Any, counts: Record, t: int, c: int, ledger: int, entry: int, now_us: int) -> bool:
    """Whether a check at this moment would evict, and move cursor `c` at least to (`ledger`, `entry`); decides nothing."""
    topic, check = broker.topics[t], backlog.trial[0]
    backlog.trial[0] = backlog.topic_checks[t]
    if topic.alive == 0:
        return False
    if not update_oldest(check, broker, t):
        return False
    decision = decide(topic, check, backlog_size(broker, t), now_us)
    policy = topic.size_policy if decision == SIZE else topic.time_policy
    if decision not in (SIZE, TIME) or policy != EVICTION:
        return False
    if backlog.pending_decisions[t].decision != 0:
        return True  # the eviction before goes on: its plan must stay
    plan_eviction(broker, backlog, t, decision, now_us // US_PER_MS)
    within = reaches(broker, backlog, t, c, decision, ledger, entry, now_us // US_PER_MS)
    forget_plan(broker, backlog, t)
    return within


@compiled_part
def eviction_explains(broker: Any, backlog: Any, counts: Record, t: int, c: int, ledger: int, entry: int, now_us: int) -> bool:
    """Whether the eviction that waits to be resolved moved cursor `c` to (`ledger`, `entry`), which no acknowledgement explains.

    From the decision until the check is done it did, wherever it goes: the broker looks at the topic a moment later than the plan does,
    and may know more. Then it may go on in the background, until the cursor is where it was to go.
    """
    pending, move = backlog.pending_decisions[t], backlog.cursor_moves[c]
    if not _evicts(pending):
        return False
    if backlog.topic_checks[t].decided > 0:
        return True
    is_planned = pending.decision != 0 and move.planned == 1
    if is_planned and not is_behind(broker.cursors[c], move.planned_ledger, move.planned_entry):
        return False
    is_awaited = is_planned and backlog.checking[0].checks_logged == 1 and is_in_background(broker.settings[0], pending)
    return is_awaited or reaches(broker, backlog, t, c, _quota_acted_on(pending), ledger, entry, now_us // US_PER_MS)


@compiled_part
def _evicts(pending: Record) -> bool:
    """Whether the waiting decision, ours or the broker's, is an eviction."""
    by_rule = pending.decision != 0 and pending.decided_action == EVICT
    return by_rule or (pending.broker_quota != 0 and pending.broker_policy == EVICTION)


@compiled_part
def is_in_background(settings: Record, pending: Record) -> bool:
    """Whether the eviction goes on after the check: a precise one by age (§2.6)."""
    return settings.precise_check == 1 and _evicts(pending) and _quota_acted_on(pending) == TIME


@compiled_part
def _quota_acted_on(pending: Record) -> int:
    """What the broker said, or else what the rules decided."""
    return pending.broker_quota if pending.broker_quota != 0 else pending.decision


@compiled_part
def _start_decision(broker: Any, backlog: Any, counts: Record, t: int, decision: int, size: int, now_us: int) -> None:
    topic, check, pending = broker.topics[t], backlog.topic_checks[t], backlog.pending_decisions[t]
    is_size = decision == SIZE
    policy = topic.size_policy if is_size else topic.time_policy
    limit = topic.size_limit if is_size else topic.time_limit
    pending.decision, pending.decided_at, pending.decided_number = decision, now_us, backlog.checking[0].check_number
    pending.decided_policy, pending.decided_limit = policy, limit
    pending.exceeded_by = size - limit if is_size else now_us // US_PER_MS - check.oldest_ms - limit * MS_PER_S
    pending.size_before, pending.size_planned, pending.target = size, size, NULL
    pending.producers_before, pending.producers_closed = topic.producers, 0
    pending.deletions_unknown = 1 if has_unknown_deletions(topic, broker.cursors) else 0
    if policy == EVICTION:
        pending.decided_action = EVICT
        check.evictions_size += 1 if is_size else 0
        check.evictions_size_durable += 1 if is_size else 0
        check.evictions_time += 0 if is_size else 1
        check.evictions_time_durable += 0 if is_size else 1
        plan_eviction(broker, backlog, t, decision, now_us // US_PER_MS)
        return
    root = slowest(topic, broker.heap)
    is_deduplication = root != NONE and broker.cursors[root].cursor_kind == DEDUPLICATION
    pending.decided_action = SNAPSHOT if is_deduplication else DISCONNECT


@compiled_part
def note_exceeded(broker: Any, backlog: Any, counts: Record, t: int, now_us: int, quota: int, policy: int, limit: int) -> None:
    """`quota_exceeded`: the broker acts now."""
    topic, check, pending = broker.topics[t], backlog.topic_checks[t], backlog.pending_decisions[t]
    if check.decided == 0:
        begin_check(broker, backlog, counts, t, now_us, BY_LOG)
        check.decided = 1
    if pending.decision == 0:
        # By the rules nothing happens: remembered as a decision that is the broker's alone.
        pending.decided_at, pending.decided_number = now_us, backlog.checking[0].check_number
        pending.size_before = backlog_size(broker, t) if topic.alive == 1 else NULL
        pending.size_planned, pending.target = pending.size_before, NULL
        pending.producers_before = topic.producers
        pending.deletions_unknown = 1 if has_unknown_deletions(topic, broker.cursors) else 0
    pending.broker_quota, pending.broker_policy, pending.broker_limit = quota + 1, policy, limit


@compiled_part
def note_checked(broker: Any, backlog: Any, counts: Record, t: int, now_us: int) -> None:
    """`quota_check` of a round: the check, its action included, is done."""
    check, pending = backlog.topic_checks[t], backlog.pending_decisions[t]
    if check.decided == 0:
        begin_check(broker, backlog, counts, t, now_us, BY_LOG)
    check.decided = 0
    if not is_in_background(broker.settings[0], pending):
        resolve(broker, backlog, counts, t, now_us)


@compiled_part
def note_reached(broker: Any, backlog: Any, counts: Record, t: int, c: int, ledger: int, entry: int, now_us: int) -> None:
    """An eviction moves the cursor to (`ledger`, `entry`)."""
    cursor, move, decision = broker.cursors[c], backlog.cursor_moves[c], backlog.pending_decisions[t].decision
    if move.moved == 0:
        move.from_ledger, move.from_entry = cursor.ledger, cursor.entry
    move.reached_ledger, move.reached_entry = ledger, entry
    move.reached_target = 1 if reaches_target(broker, backlog, t, c, decision, ledger, entry, now_us // US_PER_MS) else 0


@compiled_part
def resolve(broker: Any, backlog: Any, counts: Record, t: int, now_us: int) -> None:
    """Report the waiting decision, and what the broker did; nothing if none waits."""
    topic, pending = broker.topics[t], backlog.pending_decisions[t]
    if pending.decision == 0 and pending.broker_quota == 0:
        return
    row = backlog.out_decisions[counts.out_decisions]
    targets_agree = _resolve_moves(broker, backlog, counts, row, t)
    counts.out_decisions += 1
    disagreement = _disagreement(pending, targets_agree)
    ours, theirs = pending.decision != 0, pending.broker_quota != 0
    row.topic_id, row.sub_id = topic.id, 0
    row.decided_at, row.check_number, row.resolved_at = pending.decided_at, pending.decided_number, now_us
    row.quota_type = (pending.decision if ours else pending.broker_quota) - 1
    row.policy = pending.decided_policy if ours else pending.broker_policy
    row.action = pending.decided_action if ours else NO_ACTION
    row.quota_limit = pending.decided_limit if ours else pending.broker_limit
    row.exceeded_by, row.target = pending.exceeded_by, pending.target
    row.backlog_size_before, row.backlog_size_planned = pending.size_before, pending.size_planned
    row.producers, row.producers_closed = pending.producers_before, pending.producers_closed
    row.broker_quota_type = pending.broker_quota - 1 if theirs else NULL
    row.broker_policy = pending.broker_policy if theirs else NULL
    row.broker_limit = pending.broker_limit if theirs else NULL
    row.agrees, row.disagreement = 1 if disagreement == AGREE else 0, disagreement
    row.incomplete_reason = incomplete_reason(topic, broker.settings[0], OF_DECISIONS)
    if row.incomplete_reason == NULL and pending.deletions_unknown == 1:
        row.incomplete_reason = DELETIONS_UNKNOWN
    row.complete = 1 if row.incomplete_reason == NULL else 0
    backlog.pending_decisions[t] = NOTHING_PENDING[0]


@compiled_part
def have_all_moved(broker: Any, backlog: Any, t: int) -> bool:
    """Whether every cursor that the waiting decision plans to move has moved."""
    s = broker.topics[t].first_cursor
    while s != NONE:
        move = backlog.cursor_moves[s]
        if move.planned == 1 and move.planned_entries > 0 and move.moved == 0:
            return False
        s = broker.cursors[s].next_of_topic
    return True


@compiled
def resolve_all(broker: Any, backlog: Any, counts: Record, now_us: int) -> None:
    """The log is over: what the broker did until now is what it did."""
    for t in range(counts.topics):
        resolve(broker, backlog, counts, t, now_us)


@compiled_part
def _disagreement(pending: Record, targets_agree: bool) -> int:
    if pending.broker_quota == 0:
        return DID_NOT_ACT
    if pending.decision == 0:
        return ACTED_ALONE
    if pending.decision != pending.broker_quota:
        return OTHER_TYPE
    if pending.decided_policy != pending.broker_policy:
        return OTHER_POLICY
    if pending.decided_limit != pending.broker_limit:
        return OTHER_LIMIT
    return AGREE if targets_agree or pending.decided_action != EVICT else OTHER_TARGET


@compiled_part
def _resolve_moves(broker: Any, backlog: Any, counts: Record, decision: Record, t: int) -> bool:
    """Rows of the cursors that moved or should have, their sums into the `decision`'s row; returns whether all agree."""
    decision.cursors_planned, decision.entries_planned, decision.entries_evicted = 0, 0, 0
    all_agree = True
    s = broker.topics[t].first_cursor
    while s != NONE:
        move = backlog.cursor_moves[s]
        is_planned = move.planned == 1 and move.planned_entries > 0
        if is_planned or move.moved == 1:
            agrees = move.moved == 1 and move.reached_target == 1
            all_agree = all_agree and agrees
            row = backlog.out_moves[counts.out_moves]
            counts.out_moves += 1
            row.topic_id, row.sub_id = broker.topics[t].id, broker.subscriptions[s].id
            row.decided_at, row.check_number = backlog.pending_decisions[t].decided_at, backlog.pending_decisions[t].decided_number
            row.agrees = 1 if agrees else 0
            _report_move(row, move, is_planned)
            decision.cursors_planned += 1 if is_planned else 0
            decision.entries_planned += row.entries_planned
            decision.entries_evicted += row.entries_evicted
        backlog.cursor_moves[s] = NO_MOVE[0]
        s = broker.cursors[s].next_of_topic
    return all_agree


@compiled_part
def _report_move(row: Record, move: Record, is_planned: bool) -> None:
    row.from_ledger, row.from_entry = move.from_ledger, move.from_entry
    row.planned_ledger = move.planned_ledger if is_planned else NULL
    row.planned_entry = move.planned_entry if is_planned else NULL
    row.entries_planned = move.planned_entries if is_planned else 0
    row.reached_ledger = move.reached_ledger if move.moved == 1 else NULL
    row.reached_entry = move.reached_entry if move.moved == 1 else NULL
    row.entries_evicted = move.moved_entries
