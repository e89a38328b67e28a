"""Rounds of quota checks, and moves of cursors that evictions explain, event by event."""

from typing import Any

import numpy as np

from pipeline.rules import fields
from pipeline.rules.array import Array
from pipeline.rules.backlog.candidates import forget_candidate, note_changed, note_moved, note_published, note_slowest
from pipeline.rules.backlog.decisions import (
    begin_check,
    eviction_explains,
    have_all_moved,
    note_checked,
    note_exceeded,
    note_reached,
    resolve,
    would_evict,
)
from pipeline.rules.backlog.layout import BUCKETS, BY_INTERVAL, BY_LOG, NO_CHECK, NO_MOVE, NOTHING
from pipeline.rules.backlog.oldest import update_oldest
from pipeline.rules.blocks import Blocks
from pipeline.rules.broker.cursors import TopicCursors, is_acknowledged_up_to
from pipeline.rules.compiled import allocating_part, compiled_part, inlined_part
from pipeline.rules.records import Record, Records

#: Events that may report as many rows as their topic has subscriptions.
ENDING = ("topic_load", "topic_unload", "cursor_close", "quota_check", "quota_exceeded", "mark_delete")
US_PER_S = 1_000_000
NS_PER_US = 1_000
#: `duration_us` of a check may be off by this much from its round's start, as brokers write both.
ROUND_SLACK_NS = 2_000_000
#: Rounds that a log may be late with its first check before it is taken to have none.
INTERVALS_WAITED = 2


@compiled_part
def is_due(checking: Record, event: Array) -> bool:
    """Whether the lane's time has passed the next check of a log that has none."""
    return checking.checks_logged == 0 and event[fields.TS] >= checking.next_check_us


@compiled_part
def when_due(broker: Any, backlog: Any, counts: Record, event: Array) -> None:
    """The log has no checks: every loaded topic is checked when the lane's time passes the configured interval."""
    settings, checking, now_us = broker.settings[0], backlog.checking[0], event[fields.TS]
    interval_us = max(1, settings.check_interval_s) * US_PER_S
    if checking.next_check_us == 0:
        checking.next_check_us = now_us + INTERVALS_WAITED * interval_us
        return
    if settings.check_enabled == 1:
        _check_all(broker, backlog, counts)
    missed = (now_us - checking.next_check_us) // interval_us
    checking.next_check_us += (missed + 1) * interval_us


@allocating_part
def _check_all(broker: Any, backlog: Any, counts: Record) -> None:
    """Check every loaded topic, in the order of their ids: where a topic's row lies depends on where the log was cut."""
    topics, now_us = broker.topics[: counts.topics], backlog.checking[0].next_check_us
    ids = np.empty(counts.topics, dtype=np.int64)
    for t in range(counts.topics):
        ids[t] = topics[t].id
    for t in np.argsort(ids):
        if topics[t].loaded == 1:
            begin_check(broker, backlog, counts, t, now_us, BY_INTERVAL)


@compiled_part
def on_new_topic(topic_checks: Records, t: int) -> None:
    """Nothing was checked yet."""
    topic_checks[t] = NO_CHECK[0]


@inlined_part
def on_publish(check: Record, event: Array) -> None:
    """Something waits, perhaps for the first time."""
    note_published(check, event[fields.NS])


@compiled_part
def on_ledger_close(check: Record, event: Array) -> None:
    """A check that is not precise counts from the time at which a ledger was closed."""
    note_changed(check, event[fields.NS])


@compiled_part
def on_ledger_trim(check: Record, event: Array) -> None:
    """The list of ledgers begins elsewhere."""
    note_changed(check, event[fields.NS])


@compiled_part
def on_broker_start(checking: Record) -> None:
    """The rounds of checks begin anew."""
    checking.next_check_us = 0


@compiled_part
def before_topic_load(broker: Any, backlog: Any, counts: Record, t: int, event: Array) -> None:
    """What the broker did about an object of the topic that is still there is all that it did."""
    resolve(broker, backlog, counts, t, event[fields.TS])


@compiled_part
def before_topic_unload(broker: Any, backlog: Any, counts: Record, t: int, event: Array) -> None:
    """What the broker did about the topic is all that it did."""
    resolve(broker, backlog, counts, t, event[fields.TS])


@compiled_part
def on_topic_load(check: Record) -> None:
    """Counters of the topic's object begin at 0."""
    _forget_object(check)


@compiled_part
def on_topic_unload(check: Record) -> None:
    """Counters and the oldest position go with the topic's object; durable counters stay."""
    _forget_object(check)


@compiled_part
def _forget_object(check: Record) -> None:
    check.evictions_size, check.evictions_time = 0, 0
    check.oldest, check.decided, check.checked_round = NOTHING, 0, 0
    check.oldest_ledger, check.oldest_entry, check.oldest_sub, check.oldest_ms = 0, 0, 0, 0
    forget_candidate(check)


@compiled_part
def on_cursor_open(topic_cursors: TopicCursors, check: Record, cursor_moves: Records, s: int, event: Array) -> None:
    """Nothing is planned for a cursor that is new."""
    cursor_moves[s] = NO_MOVE[0]
    note_changed(check, event[fields.NS])
    note_slowest(check, topic_cursors, event[fields.NS])


@compiled_part
def before_cursor_close(broker: Any, backlog: Any, counts: Record, t: int, s: int, event: Array) -> None:
    """What an eviction took of a cursor is reported while the cursor is there, if the eviction has come to its end."""
    if backlog.cursor_moves[s].moved == 1 and backlog.topic_checks[t].decided == 0 and have_all_moved(broker, backlog, t):
        resolve(broker, backlog, counts, t, event[fields.TS])


@compiled_part
def on_cursor_close(topic_cursors: TopicCursors, check: Record, cursor_moves: Records, s: int, event: Array) -> None:
    """Nothing is planned for a cursor that is gone."""
    cursor_moves[s] = NO_MOVE[0]
    note_changed(check, event[fields.NS])
    note_slowest(check, topic_cursors, event[fields.NS])


@compiled_part
def on_producer_close(pending: Record) -> None:
    """A producer that goes while a decision waits was closed by it."""
    pending.producers_closed += 1 if pending.decision != 0 else 0


@compiled_part
def needs_before_mark_delete(topic: Record, ledgers: Records, cursor: Record, words: Blocks, event: Array) -> bool:
    """Whether the position moves in memory, and no acknowledgement explains the move."""
    if event[fields.MARK_PERSISTED] == 1 or event[fields.MARK_RESET] == 1:
        return False
    return not is_acknowledged_up_to(topic, ledgers, cursor, words, event[fields.LEDGER], event[fields.ENTRY])


@compiled_part
def before_mark_delete(broker: Any, backlog: Any, counts: Record, t: int, s: int, event: Array) -> None:
    """Whether an eviction explains the move."""
    if _explain_move(broker, backlog, counts, t, s, event):
        broker.cursors[s].evicting = 1
        backlog.cursor_moves[s].evicted_before = broker.cursors[s].evicted


@compiled_part
def on_mark_delete(topic_cursors: TopicCursors, check: Record, cursor: Record, move: Record, s: int, event: Array) -> None:
    """What an eviction took, and whether the oldest position is another now."""
    note_moved(check, topic_cursors, s, event[fields.NS])
    if cursor.evicting == 1:
        cursor.evicting = 0
        evicted = cursor.evicted - move.evicted_before
        if evicted > 0:
            move.moved = 1
            move.moved_entries += evicted


@compiled_part
def _explain_move(broker: Any, backlog: Any, counts: Record, t: int, s: int, event: Array) -> bool:
    """Whether an eviction explains a move. If none is known, one may begin right here: without `quota_exceeded` the first such move in a
    round shows when its topic was decided.
    """
    ledger, entry, now_us = event[fields.LEDGER], event[fields.ENTRY], event[fields.TS]
    evicting = eviction_explains(broker, backlog, counts, t, s, ledger, entry, now_us)
    if not evicting and _awaits_check(backlog, t) and would_evict(broker, backlog, counts, t, s, ledger, entry, now_us):
        backlog.checking[0].looked_up_since_ns = _round_began_ns(backlog.checking[0], event)
        begin_check(broker, backlog, counts, t, now_us, BY_LOG)
        backlog.topic_checks[t].decided = 1
        evicting = True
    if evicting:
        note_reached(broker, backlog, counts, t, s, ledger, entry, now_us)
    return evicting


@compiled_part
def _round_began_ns(checking: Record, event: Array) -> int:
    """Of the first round that is open; of none: now."""
    return checking.round_began_ns if checking.rounds_open > 0 else event[fields.NS]


@compiled_part
def _awaits_check(backlog: Any, t: int) -> bool:
    """Whether a round goes on in which this topic is neither decided nor done."""
    checking, check = backlog.checking[0], backlog.topic_checks[t]
    return checking.rounds_open > 0 and check.decided == 0 and check.checked_round < checking.rounds_begun


@compiled_part
def on_quota_round(checking: Record, event: Array) -> None:
    """A round of checks begins or ends."""
    checking.checks_logged = 1
    if event[fields.ROUND_PHASE] == 0:
        if checking.rounds_open == 0:
            checking.round_began_ns = event[fields.NS]
        checking.rounds_open += 1
        checking.rounds_begun += 1
    else:
        checking.rounds_open = max(0, checking.rounds_open - 1)
        checking.rounds += 1


@compiled_part
def on_quota_check(broker: Any, backlog: Any, counts: Record, t: int, event: Array) -> None:
    """A topic's check is done, or a producer asked to be let in and the oldest position was looked up anew."""
    checking, check = backlog.checking[0], backlog.topic_checks[t]
    if event[fields.OUTSIDE_OF_ROUND] == 1:
        if broker.topics[t].alive == 1 and update_oldest(check, broker, t):
            check.uncertain = 0  # the moment is that of the event
        return
    checking.checks_logged = 1
    checking.looked_up_since_ns = event[fields.NS] - event[fields.CHECK_DURATION_US] * NS_PER_US - ROUND_SLACK_NS
    note_checked(broker, backlog, counts, t, event[fields.TS])
    check.checked_round = checking.rounds_begun
    if fields.has(event, fields.CHECK_DURATION_US):
        duration_us = event[fields.CHECK_DURATION_US]
        backlog.durations[counts.durations].duration_us = duration_us
        counts.durations += 1
        seconds = duration_us // US_PER_S
        checking.sum_s += seconds
        first = 0 if seconds <= 5 else 1 if seconds <= 10 else 2 if seconds <= 30 else 3 if seconds <= 60 else 4 if seconds <= 300 else 5
        for bucket in range(first, BUCKETS):
            checking.le[bucket] += 1


@compiled_part
def on_quota_exceeded(broker: Any, backlog: Any, counts: Record, t: int, event: Array) -> None:
    """The broker acts now."""
    backlog.checking[0].checks_logged = 1
    backlog.checking[0].looked_up_since_ns = _round_began_ns(backlog.checking[0], event)
    quota, policy, limit = event[fields.EXCEEDED_TYPE], event[fields.EXCEEDED_POLICY], event[fields.EXCEEDED_LIMIT]
    note_exceeded(broker, backlog, counts, t, event[fields.TS], quota, policy, limit)
