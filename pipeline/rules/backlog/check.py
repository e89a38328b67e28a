"""A quota check of one topic: what the broker sees, what it decides (§2.5), and the rows that report it."""

from typing import Any

from pipeline.rules.backlog.layout import BY_LOG, EVICT, KNOWN, NOTHING, SIZE, TIME, UNKNOWN, UNKNOWN_TIME
from pipeline.rules.backlog.oldest import oldest_unacknowledged
from pipeline.rules.backlog.sizes import backlog_messages, backlog_size, subscription_size
from pipeline.rules.broker.completeness import BEGINNING_NOT_SEEN, DELETIONS_UNKNOWN, EVENTS_LOST, incomplete_reason, needed_by
from pipeline.rules.broker.cursors import backlog_entries, unexplained
from pipeline.rules.broker.layout import NONE
from pipeline.rules.broker.ledgers import storage_size
from pipeline.rules.compiled import compiled, compiled_part
from pipeline.rules.integers import add
from pipeline.rules.records import Record
from schemas.events import SUB_TYPES
from schemas.outcomes import NULL
from schemas.packages.backlog.at_checks import SUBSCRIPTION_BACKLOG, TOPIC_BACKLOG

MS_PER_S = 1000
US_PER_MS = 1000
EXCLUSIVE, FAILOVER = SUB_TYPES.index("Exclusive"), SUB_TYPES.index("Failover")
OF_CHECKS, OF_CURSORS = needed_by(TOPIC_BACKLOG.name), needed_by(SUBSCRIPTION_BACKLOG.name)


@compiled_part
def decide(topic: Record, check: Record, size: int, now_us: int) -> int:
    """Which quota is exceeded: SIZE if size ≥ limit (limit < 0: never), else TIME if now > oldest + limit (limit ≤ 0: never), else 0.

    UNKNOWN if the log does not have the topic's life, its quotas, or the oldest entry's publish time.
    """
    if topic.alive == 0 or topic.size_policy == NONE:
        return UNKNOWN
    if 0 <= topic.size_limit <= size:
        return SIZE
    if topic.time_limit <= 0 or check.oldest == NOTHING:
        return 0
    if check.oldest == UNKNOWN_TIME:
        return UNKNOWN
    return TIME if now_us // US_PER_MS > check.oldest_ms + topic.time_limit * MS_PER_S else 0


@compiled_part
def age_s(check: Record, now_us: int) -> int:
    """The age that the broker shows now: whole seconds since the cached time, −1 = none (§2.4); NULL: the log does not have it."""
    if check.oldest == NOTHING:
        return -1
    if check.oldest != KNOWN:
        return NULL
    age_ms = now_us // US_PER_MS - check.oldest_ms
    # Towards zero, as Java divides: half a second ahead is 0, not −1, which means none.
    return age_ms // MS_PER_S if age_ms >= 0 else -(-age_ms // MS_PER_S)


@compiled_part
def report_check(broker: Any, backlog: Any, counts: Record, t: int, now_us: int, decision: int, source: int, under_way: int) -> None:
    """Rows of `topic_backlog` and `subscription_backlog`. `under_way`: SIZE or TIME if an eviction of the topic goes on that the broker
    does not count yet.
    """
    topic, check, number = broker.topics[t], backlog.topic_checks[t], backlog.checking[0].check_number
    true_oldest = NULL
    s = topic.first_cursor
    while s != NONE:
        oldest_ms = _report_cursor(broker, backlog.out_cursors[counts.out_cursors], t, s, now_us, number)
        counts.out_cursors += 1
        if oldest_ms != NULL and (true_oldest == NULL or oldest_ms < true_oldest):
            true_oldest = oldest_ms
        s = broker.cursors[s].next_of_topic
    row = backlog.out_checks[counts.out_checks]
    counts.out_checks += 1
    row.check_time, row.check_number, row.check_source, row.decision = now_us, number, source, decision
    row.true_oldest_publish_time = true_oldest * US_PER_MS if true_oldest != NULL else NULL
    row.topic_id, row.subscriptions, row.producers = topic.id, topic.cursors, topic.producers
    row.incomplete_reason = incomplete_reason(topic, broker.settings[0], OF_CHECKS)
    row.complete = 1 if row.incomplete_reason == NULL else 0
    _report_sizes(row, broker, t)
    _report_quotas(row, topic)
    _report_oldest(row, topic, check, now_us)
    by_size, by_time = 1 if under_way == SIZE else 0, 1 if under_way == TIME else 0
    row.storage_backlog_quota_exceeded_evictions_size = check.evictions_size - by_size
    row.storage_backlog_quota_exceeded_evictions_size_durable = check.evictions_size_durable - by_size
    row.storage_backlog_quota_exceeded_evictions_time = check.evictions_time - by_time
    row.storage_backlog_quota_exceeded_evictions_time_durable = check.evictions_time_durable - by_time


@compiled_part
def _report_sizes(row: Record, broker: Any, t: int) -> None:
    alive = broker.topics[t].alive == 1
    row.backlog_size = backlog_size(broker, t) if alive else NULL
    row.storage_size = storage_size(broker.topics[t], broker.ledgers) if alive else NULL


@compiled_part
def _report_quotas(row: Record, topic: Record) -> None:
    is_known = topic.size_policy != NONE
    row.backlog_quota_limit_size = topic.size_limit if is_known else NULL
    row.backlog_quota_limit_time = topic.time_limit if is_known else NULL
    row.policy_size = topic.size_policy if is_known else NULL
    row.policy_time = topic.time_policy if is_known else NULL


@compiled_part
def _report_oldest(row: Record, topic: Record, check: Record, now_us: int) -> None:
    has_oldest = topic.alive == 1 and check.oldest != NOTHING
    row.sub_id = check.oldest_sub if has_oldest else 0
    row.oldest_backlog_message_age_seconds = age_s(check, now_us) if topic.alive == 1 else NULL
    row.believed_age_is_certain = 1 - check.uncertain if topic.alive == 1 else NULL
    row.oldest_believed_time = check.oldest_ms * US_PER_MS if has_oldest and check.oldest == KNOWN else NULL


@compiled_part
def _report_cursor(broker: Any, row: Record, t: int, s: int, now_us: int, check_number: int) -> int:
    """One row of `subscription_backlog`; returns the publish time of the cursor's oldest unacknowledged entry, or NULL."""
    topic, cursor, settings = broker.topics[t], broker.cursors[s], broker.settings[0]
    entries = backlog_entries(topic, broker.ledgers, cursor)
    oldest_ms, exact_to_ms = oldest_unacknowledged(topic, broker.ledgers, broker.marks, cursor, broker.words)
    row.topic_id, row.sub_id = topic.id, broker.subscriptions[s].id
    row.check_time, row.check_number = now_us, check_number
    row.opened_at, row.durable = cursor.opened_at, cursor.durable
    row.cursor_kind = cursor.cursor_kind if cursor.cursor_kind != NONE else NULL
    row.msg_backlog = entries
    row.backlog_messages = backlog_messages(broker, topic, cursor, entries)
    row.backlog_size = subscription_size(topic, broker.ledgers, cursor, entries, settings.version)
    row.oldest_publish_time = oldest_ms * US_PER_MS if oldest_ms != NULL else NULL
    row.oldest_age_ms = now_us // US_PER_MS - oldest_ms if oldest_ms != NULL else NULL
    row.exact_to_ms = exact_to_ms
    row.mark_delete_ledger, row.mark_delete_entry = cursor.ledger, cursor.entry
    row.individually_deleted = cursor.deleted + cursor.deleted_unknown
    _report_unacknowledged(row, cursor, broker.dispatchers[s].sub_type, entries)
    row.dispatched_entries, row.dispatched_msgs = cursor.dispatched_entries, cursor.dispatched_msgs
    row.opened_backlog, row.published_entries = cursor.opened_backlog, topic.end_entries - cursor.opened_end
    row.acknowledged_entries, row.evicted_entries = cursor.acknowledged, cursor.evicted
    row.expired_entries, row.sought_entries = cursor.expired, cursor.sought
    row.unexplained_entries = unexplained(topic, cursor, entries)
    row.incomplete_reason = _reason_of_cursor(topic, cursor, settings)
    row.complete = 1 if row.incomplete_reason == NULL else 0
    return oldest_ms


@compiled_part
def _report_unacknowledged(row: Record, cursor: Record, sub_type: int, backlog: int) -> None:
    """What consumers have, and the broker's `unackedMessages`: it counts for types that acknowledge one by one, else it shows 0."""
    in_flight = min(cursor.in_flight, backlog)
    row.in_flight_entries = in_flight
    counted = add(add(in_flight, cursor.passed), cursor.leaked)
    if counted == 0 or sub_type in (EXCLUSIVE, FAILOVER):
        row.unacked_entries, row.unacked_messages = 0, 0
        return
    row.unacked_entries = counted
    is_known = sub_type != NONE and cursor.msgs_unknown == 0
    # More in flight than the backlog has: a log without redeliveries counts an entry twice.
    msgs = cursor.in_flight_msgs if in_flight == cursor.in_flight else in_flight
    is_known = is_known and (in_flight == cursor.in_flight or cursor.in_flight_msgs == cursor.in_flight)
    row.unacked_messages = add(add(msgs, cursor.passed_msgs), cursor.leaked_msgs) if is_known else NULL


@compiled_part
def _reason_of_cursor(topic: Record, cursor: Record, settings: Record) -> int:
    """Why nobody can know a cursor's backlog; NULL: it is known."""
    reason = incomplete_reason(topic, settings, OF_CURSORS)
    if reason != NULL:
        return reason
    if cursor.began_complete == 0:
        return BEGINNING_NOT_SEEN
    if cursor.losses_at_open != settings.losses:
        return EVENTS_LOST
    return DELETIONS_UNKNOWN if cursor.deleted_unknown > 0 else NULL


@compiled
def probe_all(broker: Any, backlog: Any, counts: Record, now_us: int) -> None:
    """Report every loaded topic as it is, with the age that the broker would show now. Nothing is looked up anew and nothing decided."""
    for t in range(counts.topics):
        if broker.topics[t].alive == 1:
            check, pending = backlog.topic_checks[t], backlog.pending_decisions[t]
            decision = decide(broker.topics[t], check, backlog_size(broker, t), now_us)
            # The broker counts an eviction when the attempt is over (§2.6).
            is_evicting = check.decided > 0 and pending.decision != 0 and pending.decided_action == EVICT
            report_check(broker, backlog, counts, t, now_us, decision, BY_LOG, pending.decision if is_evicting else 0)
