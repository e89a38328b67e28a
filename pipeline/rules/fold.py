"""The one pass: events of one broker in `seq` order, applied to its state. Rendered: do not edit (render.py).

Invariant: an event either is applied whole or not at all. Before each event the fold checks that the stores have room for whatever it could
add; if not it stops there, and its caller makes room and goes on from the same event.
"""

from typing import Any

from pipeline.rules import fields
from pipeline.rules.array import Array
from pipeline.rules.attributes import bits_by_code
from pipeline.rules.backlog import rules as backlog_rules
from pipeline.rules.blocks import fits_one_more
from pipeline.rules.broker import rules as broker_rules
from pipeline.rules.broker.attachments import LinkIndexes, Links
from pipeline.rules.broker.connections import new_connection
from pipeline.rules.broker.cursor_life import is_gone, meet_cursor
from pipeline.rules.broker.cursors import TopicCursors
from pipeline.rules.broker.topics import meet_topic, new_subscription, new_topic
from pipeline.rules.cause import rules as cause_rules
from pipeline.rules.cause.case import Case, Cases
from pipeline.rules.cause.margins import MarginTable
from pipeline.rules.channel import rules as channel_rules
from pipeline.rules.channel.bundles import AllChannels, Closing, Reach, Timing
from pipeline.rules.compiled import compiled
from pipeline.rules.index import EMPTY, find
from pipeline.rules.policy import rules as policy_rules
from pipeline.rules.records import Record
from pipeline.rules.segments import has_spare
from pipeline.rules.throttle import rules as throttle_rules
from pipeline.rules.throttle.reads import Limiters, LimiterUses
from schemas.events import CODES, TOMBSTONE_CODE

PUBLISH = CODES["publish"]
DISPATCH = CODES["dispatch"]
READ = CODES["read"]
ACK = CODES["ack"]
MARK_DELETE = CODES["mark_delete"]
BROKER_START = CODES["broker_start"]
SETTING = CODES["setting"]
HEARTBEAT = CODES["heartbeat"]
DISPATCH_RATE = CODES["dispatch_rate"]
BACKLOG_QUOTA = CODES["backlog_quota"]
TOPIC_LOAD = CODES["topic_load"]
TOPIC_UNLOAD = CODES["topic_unload"]
LEDGER_OPEN = CODES["ledger_open"]
LEDGER_CLOSE = CODES["ledger_close"]
LEDGER_TRIM = CODES["ledger_trim"]
CURSOR_OPEN = CODES["cursor_open"]
CURSOR_CLOSE = CODES["cursor_close"]
DISPATCHER_OPEN = CODES["dispatcher_open"]
DISPATCHER_CLOSE = CODES["dispatcher_close"]
CONSUMER_OPEN = CODES["consumer_open"]
CONSUMER_CLOSE = CODES["consumer_close"]
PRODUCER_OPEN = CODES["producer_open"]
PRODUCER_CLOSE = CODES["producer_close"]
QUOTA_ROUND = CODES["quota_round"]
QUOTA_CHECK = CODES["quota_check"]
QUOTA_EXCEEDED = CODES["quota_exceeded"]
CONN_OPEN = CODES["conn_open"]
CONN_CLOSE = CODES["conn_close"]
WRITABILITY = CODES["writability"]
THROTTLE = CODES["throttle"]
REQUEST = CODES["request"]
FLOW = CODES["flow"]
CONSUMER_BLOCKED = CODES["consumer_blocked"]
DELAYED = CODES["delayed"]
REDELIVER = CODES["redeliver"]
READ_DONE = CODES["read_done"]
POLICY_SET = CODES["policy_set"]
PUBLISH_RATE = CODES["publish_rate"]
TRANSACTION = CODES["transaction"]
STATE = CODES["state"]
TOPIC_STATE = CODES["topic_state"]
CONSUMER_STATE = CODES["consumer_state"]
TRANSACTION_OPEN = CODES["transaction_open"]
TRANSACTION_END = CODES["transaction_end"]
BROKER_ACK = CODES["broker_ack"]
TOMBSTONE = TOMBSTONE_CODE
RULED, ENDING, EMITTING, MEETING, OF_CURSOR, CONNECTED = 1, 2, 4, 8, 16, 32
#: What is so of an event of each code. Comparing the code with thirty others took up to a tenth of the fold's time.
TRAITS = bits_by_code(
    (
        RULED,
        (
            ACK,
            BACKLOG_QUOTA,
            BROKER_ACK,
            BROKER_START,
            CONN_CLOSE,
            CONN_OPEN,
            CONSUMER_BLOCKED,
            CONSUMER_CLOSE,
            CONSUMER_OPEN,
            CONSUMER_STATE,
            CURSOR_CLOSE,
            CURSOR_OPEN,
            DELAYED,
            DISPATCH,
            DISPATCHER_CLOSE,
            DISPATCHER_OPEN,
            DISPATCH_RATE,
            FLOW,
            HEARTBEAT,
            LEDGER_CLOSE,
            LEDGER_OPEN,
            LEDGER_TRIM,
            MARK_DELETE,
            POLICY_SET,
            PRODUCER_CLOSE,
            PRODUCER_OPEN,
            PUBLISH,
            PUBLISH_RATE,
            QUOTA_CHECK,
            QUOTA_EXCEEDED,
            QUOTA_ROUND,
            READ,
            READ_DONE,
            REDELIVER,
            REQUEST,
            SETTING,
            STATE,
            THROTTLE,
            TOMBSTONE,
            TOPIC_LOAD,
            TOPIC_STATE,
            TOPIC_UNLOAD,
            TRANSACTION,
            TRANSACTION_END,
            TRANSACTION_OPEN,
            WRITABILITY,
        ),
    ),
    (ENDING, (CURSOR_CLOSE, DISPATCHER_CLOSE, DISPATCHER_OPEN, MARK_DELETE, QUOTA_CHECK, QUOTA_EXCEEDED, TOPIC_LOAD, TOPIC_UNLOAD)),
    (EMITTING, (BACKLOG_QUOTA, CONN_CLOSE, CONN_OPEN, DISPATCH_RATE, HEARTBEAT, REQUEST, THROTTLE, WRITABILITY)),
    (MEETING, (ACK, BROKER_ACK, CONSUMER_CLOSE, CONSUMER_OPEN, DISPATCH, MARK_DELETE)),
    (OF_CURSOR, (ACK, BROKER_ACK, MARK_DELETE)),
    (
        CONNECTED,
        (
            CONN_CLOSE,
            CONN_OPEN,
            CONSUMER_CLOSE,
            CONSUMER_OPEN,
            CONSUMER_STATE,
            PRODUCER_CLOSE,
            PRODUCER_OPEN,
            REQUEST,
            THROTTLE,
            WRITABILITY,
        ),
    ),
)


@compiled
def fold(stores: Any, counts: Record, events: Array, start: int) -> int:
    """Apply `events[start:]` (int64 [n, LANE_COLUMNS], in order). `stores`: of each package a tuple.

    Returns the position of the first event that was not applied: n, or where room ran out.
    """
    broker = stores.broker
    throttle = stores.throttle
    backlog = stores.backlog
    channel = stores.channel
    policy = stores.policy
    cause = stores.cause
    settings_row = broker.settings
    broker_limiter_row = broker.broker_limiter
    topics_index = broker.topics_index
    topics = broker.topics
    topic_limiters = broker.topic_limiters
    ledgers_ends = broker.ledgers_ends
    ledgers = broker.ledgers
    heap_ends = broker.heap_ends
    heap = broker.heap
    marks = broker.marks
    subscriptions_index = broker.subscriptions_index
    subscriptions = broker.subscriptions
    cursors = broker.cursors
    words = broker.words
    readings = broker.readings
    dispatchers = broker.dispatchers
    subscription_limiters = broker.subscription_limiters
    connectivity_row = broker.connectivity
    connections_index = broker.connections_index
    connections = broker.connections
    attachments_index = broker.attachments_index
    attachments = broker.attachments
    endpoints_index = broker.endpoints_index
    endpoints = broker.endpoints
    throttlings = throttle.throttlings
    broker_limiter_use_row = throttle.broker_limiter_use
    topic_limiter_uses = throttle.topic_limiter_uses
    subscription_limiter_uses = throttle.subscription_limiter_uses
    working_row = throttle.working
    checking_row = backlog.checking
    topic_checks = backlog.topic_checks
    pending_decisions = backlog.pending_decisions
    cursor_moves = backlog.cursor_moves
    channel_settings_row = channel.channel_settings
    channel_clock_row = channel.channel_clock
    write_buffers_row = channel.write_buffers
    channels = channel.channels
    topic_pauses = channel.topic_pauses
    timers = channel.timers
    closed_connections = channel.closed_connections
    closed_channels = channel.closed_channels
    out_transitions = channel.out_transitions
    broker_limit_row = policy.broker_limit
    set_policies_index = policy.set_policies_index
    set_policies = policy.set_policies
    topic_limits = policy.topic_limits
    subscription_limits = policy.subscription_limits
    charges = cause.charges
    chains = cause.chains
    pace_row = cause.pace
    margins_index = cause.margins_index
    margins = cause.margins
    topics_capacity = len(broker.topics)
    subscriptions_capacity = len(broker.subscriptions)
    connections_capacity = len(broker.connections)
    attachments_capacity = len(broker.attachments)
    endpoints_capacity = len(broker.endpoints)
    set_policies_capacity = len(policy.set_policies)
    margins_capacity = len(cause.margins)
    ledgers_capacity = len(broker.ledgers)
    heap_capacity = len(broker.heap)
    lists_capacity = min(
        len(throttle.closed_dispatchers),
        len(throttle.closed_throttlings),
        len(throttle.closed_limiters),
        len(throttle.closed_limiter_uses),
        len(backlog.durations),
        len(backlog.out_checks),
        len(backlog.out_cursors),
        len(backlog.out_decisions),
        len(backlog.out_moves),
        len(channel.timers),
        len(channel.closed_connections),
        len(channel.closed_channels),
        len(channel.out_transitions),
        len(policy.out_policies),
        len(cause.out_causes),
    )
    for position in range(start, events.shape[0]):
        event = events[position]
        code = event[fields.TYPE]
        if backlog_rules.is_due(checking_row[0], event):
            if (
                max(
                    counts.closed_dispatchers,
                    counts.closed_limiters,
                    counts.durations,
                    counts.out_checks,
                    counts.out_cursors,
                    counts.out_decisions,
                    counts.out_moves,
                    counts.timers,
                    counts.closed_connections,
                    counts.out_transitions,
                    counts.out_policies,
                    counts.out_causes,
                )
                + 2
                * (
                    counts.topics
                    + counts.subscriptions
                    + counts.connections
                    + counts.attachments
                    + counts.endpoints
                    + counts.set_policies
                    + counts.margins
                )
                + 2
                > lists_capacity
            ):
                return position
            backlog_rules.when_due(broker, backlog, counts, event)
        if channel_rules.is_due(channel_clock_row[0], event):
            if (
                max(
                    counts.closed_dispatchers,
                    counts.closed_limiters,
                    counts.durations,
                    counts.out_checks,
                    counts.out_cursors,
                    counts.out_decisions,
                    counts.out_moves,
                    counts.timers,
                    counts.closed_connections,
                    counts.out_transitions,
                    counts.out_policies,
                    counts.out_causes,
                )
                + 2
                * (
                    counts.topics
                    + counts.subscriptions
                    + counts.connections
                    + counts.attachments
                    + counts.endpoints
                    + counts.set_policies
                    + counts.margins
                )
                + 2
                > lists_capacity
            ):
                return position
            channel_rules.when_due(
                AllChannels(
                    connections,
                    channels,
                    attachments,
                    topic_pauses,
                    out_transitions,
                    timers,
                    channel_clock_row[0],
                    channel_settings_row[0],
                    counts,
                ),
                event,
            )
        if cause_rules.is_due(pace_row[0], event):
            if (
                max(
                    counts.closed_dispatchers,
                    counts.closed_limiters,
                    counts.durations,
                    counts.out_checks,
                    counts.out_cursors,
                    counts.out_decisions,
                    counts.out_moves,
                    counts.timers,
                    counts.closed_connections,
                    counts.out_transitions,
                    counts.out_policies,
                    counts.out_causes,
                )
                + 2
                * (
                    counts.topics
                    + counts.subscriptions
                    + counts.connections
                    + counts.attachments
                    + counts.endpoints
                    + counts.set_policies
                    + counts.margins
                )
                + 2
                > lists_capacity
            ):
                return position
            cause_rules.when_due(broker, cause, counts, event)
        traits = TRAITS[code]
        if not traits & RULED:
            continue
        if (
            counts.topics >= topics_capacity
            or counts.subscriptions >= subscriptions_capacity
            or counts.connections >= connections_capacity
            or counts.attachments >= attachments_capacity
            or counts.endpoints >= endpoints_capacity
            or counts.set_policies >= set_policies_capacity
            or counts.margins >= margins_capacity
            or not has_spare(ledgers_capacity, ledgers_ends)
            or not has_spare(heap_capacity, heap_ends)
            or not fits_one_more(marks)
            or not fits_one_more(words)
        ):
            return position
        t = EMPTY
        if event[fields.TOPIC_ID] != 0:
            t = find(topics_index, topics, event[fields.TOPIC_ID], 0)
            if t == EMPTY:
                t = new_topic(broker, counts, event[fields.TOPIC_ID])
                backlog_rules.on_new_topic(topic_checks, t)
                policy_rules.on_new_topic(topic_limits, t)
                cause_rules.on_new_topic(chains, t)
        s = EMPTY
        if event[fields.SUB_ID] != 0:
            s = find(subscriptions_index, subscriptions, event[fields.SUB_ID], event[fields.TOPIC_ID])
            if s == EMPTY:
                s = new_subscription(broker, counts, t, event[fields.SUB_ID])
                throttle_rules.on_new_subscription(throttlings, s)
                policy_rules.on_new_subscription(subscription_limits, s)
                cause_rules.on_new_subscription(charges, s)
        c = EMPTY
        if traits & CONNECTED:
            c = find(connections_index, connections, event[fields.CONN], 0)
            if c == EMPTY:
                c = new_connection(connections, connections_index, counts, event[fields.CONN])
                channel_rules.on_new_connection(channels, c)
        # Of a row's number that may be negative numba asks at each access whether it counts from the end.
        at_t, at_s, at_c = max(t, 0), max(s, 0), max(c, 0)
        if (
            traits & ENDING
            and max(
                counts.closed_dispatchers,
                counts.closed_limiters,
                counts.durations,
                counts.out_checks,
                counts.out_cursors,
                counts.out_decisions,
                counts.out_moves,
                counts.timers,
                counts.closed_connections,
                counts.out_transitions,
                counts.out_policies,
                counts.out_causes,
            )
            + 2 * topics[at_t].subscriptions
            + 24
            > lists_capacity
        ):
            return position
        if (
            traits & EMITTING
            and max(
                counts.closed_dispatchers,
                counts.closed_limiters,
                counts.durations,
                counts.out_checks,
                counts.out_cursors,
                counts.out_decisions,
                counts.out_moves,
                counts.timers,
                counts.closed_connections,
                counts.out_transitions,
                counts.out_policies,
                counts.out_causes,
            )
            + 24
            > lists_capacity
        ):
            return position
        if traits & MEETING and cursors[at_s].open == 0:
            if not is_gone(cursors[at_s], settings_row[0]):
                meet_topic(topics[at_t])
                meet_cursor(broker, t, s, event[fields.TS])
            elif traits & OF_CURSOR:
                continue
        if code == PUBLISH:
            cause_rules.before_publish(chains[at_t], topics[at_t], event)
            broker_rules.on_publish(topics[at_t], ledgers, ledgers_ends, marks, event)
            backlog_rules.on_publish(topic_checks[at_t], event)
            if cause_rules.needs_on_publish(chains[at_t]):
                cause_rules.on_publish(
                    Cases(
                        charges,
                        chains[at_t],
                        topics[at_t],
                        subscriptions,
                        cursors,
                        readings,
                        dispatchers,
                        settings_row[0],
                        pace_row[0],
                        connectivity_row[0],
                        attachments,
                        connections,
                    ),
                    event,
                )
        elif code == DISPATCH:
            if cause_rules.needs_before_dispatch(subscriptions[at_s], connectivity_row[0]):
                cause_rules.before_dispatch(subscriptions[at_s], connectivity_row[0], attachments, connections)
            broker_rules.on_dispatch(
                topics[at_t], readings[at_s], cursors[at_s], dispatchers[at_s], subscriptions[at_s], settings_row[0], event
            )
            throttle_rules.on_dispatch(
                dispatchers[at_s],
                throttlings[at_s],
                Limiters(broker_limiter_row[0], topic_limiters[at_t], subscription_limiters[at_s]),
                LimiterUses(broker_limiter_use_row[0], topic_limiter_uses[at_t], subscription_limiter_uses[at_s]),
                event,
            )
            cause_rules.on_dispatch(
                Case(
                    charges[at_s],
                    chains[at_t],
                    s,
                    topics[at_t],
                    subscriptions[at_s],
                    cursors[at_s],
                    readings[at_s],
                    dispatchers[at_s],
                    settings_row[0],
                    pace_row[0],
                    connectivity_row[0],
                ),
                ledgers,
                event,
            )
        elif code == READ:
            if throttle_rules.needs_before_read(subscriptions[at_s], connectivity_row[0], event):
                throttle_rules.before_read(throttlings[at_s], subscriptions[at_s], connectivity_row[0], attachments, connections, event)
            if cause_rules.needs_before_read(subscriptions[at_s], connectivity_row[0]):
                cause_rules.before_read(subscriptions[at_s], connectivity_row[0], attachments, connections)
            broker_rules.on_read(
                topics[at_t], readings[at_s], cursors[at_s], dispatchers[at_s], subscriptions[at_s], settings_row[0], event
            )
            throttle_rules.on_read(
                topics[at_t],
                readings[at_s],
                throttlings[at_s],
                Limiters(broker_limiter_row[0], topic_limiters[at_t], subscription_limiters[at_s]),
                LimiterUses(broker_limiter_use_row[0], topic_limiter_uses[at_t], subscription_limiter_uses[at_s]),
                working_row[0],
                event,
            )
            cause_rules.on_read(
                Case(
                    charges[at_s],
                    chains[at_t],
                    s,
                    topics[at_t],
                    subscriptions[at_s],
                    cursors[at_s],
                    readings[at_s],
                    dispatchers[at_s],
                    settings_row[0],
                    pace_row[0],
                    connectivity_row[0],
                ),
                throttlings[at_s],
                Limiters(broker_limiter_row[0], topic_limiters[at_t], subscription_limiters[at_s]),
                working_row[0],
                MarginTable(margins, margins_index, counts),
                event,
            )
        elif code == ACK:
            broker_rules.on_ack(topics[at_t], marks, cursors[at_s], words, event)
            if cause_rules.needs_on_ack(charges[at_s], cursors[at_s]):
                cause_rules.on_ack(
                    Case(
                        charges[at_s],
                        chains[at_t],
                        s,
                        topics[at_t],
                        subscriptions[at_s],
                        cursors[at_s],
                        readings[at_s],
                        dispatchers[at_s],
                        settings_row[0],
                        pace_row[0],
                        connectivity_row[0],
                    ),
                    attachments,
                    connections,
                    event,
                )
        elif code == MARK_DELETE:
            if backlog_rules.needs_before_mark_delete(topics[at_t], ledgers, cursors[at_s], words, event):
                backlog_rules.before_mark_delete(broker, backlog, counts, t, s, event)
            if cause_rules.needs_before_mark_delete(charges[at_s], event):
                cause_rules.before_mark_delete(
                    Case(
                        charges[at_s],
                        chains[at_t],
                        s,
                        topics[at_t],
                        subscriptions[at_s],
                        cursors[at_s],
                        readings[at_s],
                        dispatchers[at_s],
                        settings_row[0],
                        pace_row[0],
                        connectivity_row[0],
                    ),
                    event,
                )
            broker_rules.on_mark_delete(
                TopicCursors(topics[at_t], ledgers, heap, subscriptions, cursors), words, readings[at_s], settings_row[0], s, event
            )
            backlog_rules.on_mark_delete(
                TopicCursors(topics[at_t], ledgers, heap, subscriptions, cursors),
                topic_checks[at_t],
                cursors[at_s],
                cursor_moves[at_s],
                s,
                event,
            )
            if cause_rules.needs_on_mark_delete(charges[at_s], cursors[at_s], settings_row[0], event):
                cause_rules.on_mark_delete(
                    Case(
                        charges[at_s],
                        chains[at_t],
                        s,
                        topics[at_t],
                        subscriptions[at_s],
                        cursors[at_s],
                        readings[at_s],
                        dispatchers[at_s],
                        settings_row[0],
                        pace_row[0],
                        connectivity_row[0],
                    ),
                    ledgers,
                    attachments,
                    connections,
                    event,
                )
        elif code == BROKER_START:
            broker_rules.on_broker_start(settings_row[0], event)
            backlog_rules.on_broker_start(checking_row[0])
            channel_rules.on_broker_start(channel_settings_row[0], event)
            cause_rules.on_broker_start(pace_row[0], event)
        elif code == SETTING:
            broker_rules.on_setting(settings_row[0], event)
        elif code == HEARTBEAT:
            channel_rules.on_heartbeat(
                connections,
                connections_index,
                channels,
                connectivity_row[0],
                settings_row[0],
                channel_settings_row[0],
                write_buffers_row[0],
                event,
            )
            policy_rules.on_heartbeat(broker, policy, counts, event)
        elif code == DISPATCH_RATE:
            broker_rules.on_dispatch_rate(broker, t, s, event)
            throttle_rules.on_dispatch_rate(broker, throttle, t, s, event)
            policy_rules.on_dispatch_rate(broker, policy, counts, t, s, event)
        elif code == BACKLOG_QUOTA:
            broker_rules.on_backlog_quota(topics[at_t], event)
            policy_rules.on_backlog_quota(broker, policy, counts, t, event)
        elif code == TOPIC_LOAD:
            throttle_rules.before_topic_load(broker, throttle, counts, t, event)
            backlog_rules.before_topic_load(broker, backlog, counts, t, event)
            channel_rules.before_topic_load(topic_pauses[at_t], event)
            cause_rules.before_topic_load(broker, cause, t, event)
            broker_rules.on_topic_load(broker, t, event)
            backlog_rules.on_topic_load(topic_checks[at_t])
            policy_rules.on_topic_load(broker, policy, t, event)
        elif code == TOPIC_UNLOAD:
            throttle_rules.before_topic_unload(broker, throttle, counts, t, event)
            backlog_rules.before_topic_unload(broker, backlog, counts, t, event)
            channel_rules.before_topic_unload(topic_pauses[at_t], event)
            policy_rules.before_topic_unload(broker, policy, counts, t, event)
            cause_rules.before_topic_unload(broker, cause, t, event)
            broker_rules.on_topic_unload(broker, t, event)
            backlog_rules.on_topic_unload(topic_checks[at_t])
        elif code == LEDGER_OPEN:
            broker_rules.on_ledger_open(topics[at_t], ledgers, ledgers_ends, event)
        elif code == LEDGER_CLOSE:
            cause_rules.before_ledger_close(chains[at_t], topics[at_t], event)
            broker_rules.on_ledger_close(topics[at_t], ledgers, ledgers_ends, event)
            backlog_rules.on_ledger_close(topic_checks[at_t], event)
            if cause_rules.needs_on_ledger_close(chains[at_t]):
                cause_rules.on_ledger_close(broker, cause, t, event)
        elif code == LEDGER_TRIM:
            broker_rules.on_ledger_trim(broker, t, event)
            backlog_rules.on_ledger_trim(topic_checks[at_t], event)
            cause_rules.on_ledger_trim(broker, cause, t, event)
        elif code == CURSOR_OPEN:
            cause_rules.before_cursor_open(broker, cause, t, s, event)
            broker_rules.on_cursor_open(broker, t, s, event)
            backlog_rules.on_cursor_open(
                TopicCursors(topics[at_t], ledgers, heap, subscriptions, cursors), topic_checks[at_t], cursor_moves, s, event
            )
            cause_rules.on_cursor_open(broker, cause, t, s, event)
        elif code == CURSOR_CLOSE:
            backlog_rules.before_cursor_close(broker, backlog, counts, t, s, event)
            cause_rules.before_cursor_close(broker, cause, t, s, event)
            broker_rules.on_cursor_close(broker, t, s, event)
            backlog_rules.on_cursor_close(
                TopicCursors(topics[at_t], ledgers, heap, subscriptions, cursors), topic_checks[at_t], cursor_moves, s, event
            )
        elif code == DISPATCHER_OPEN:
            throttle_rules.before_dispatcher_open(broker, throttle, counts, t, s, event)
            broker_rules.on_dispatcher_open(broker, t, s, event)
            throttle_rules.on_dispatcher_open(throttlings[at_s])
            cause_rules.on_dispatcher_open(broker, cause, t, s, event)
        elif code == DISPATCHER_CLOSE:
            throttle_rules.before_dispatcher_close(broker, throttle, counts, t, s, event)
            policy_rules.before_dispatcher_close(broker, policy, counts, t, s, event)
            broker_rules.on_dispatcher_close(dispatchers, subscription_limiters, cursors[at_s], s)
            cause_rules.on_dispatcher_close(broker, cause, t, s, event)
        elif code == CONSUMER_OPEN:
            broker_rules.on_consumer_open(
                Links(connectivity_row[0], connections, topics, subscriptions, attachments, endpoints),
                LinkIndexes(attachments_index, endpoints_index, counts),
                topics[at_t],
                readings[at_s],
                settings_row[0],
                s,
                c,
                event,
            )
            channel_rules.on_consumer_open(connections[at_c], channels[at_c], channel_settings_row[0], event)
            cause_rules.on_consumer_open(broker, cause, t, s, event)
        elif code == CONSUMER_CLOSE:
            broker_rules.on_consumer_close(
                Links(connectivity_row[0], connections, topics, subscriptions, attachments, endpoints),
                endpoints_index,
                topics[at_t],
                readings[at_s],
                cursors[at_s],
                event,
            )
            cause_rules.on_consumer_close(broker, cause, t, s, event)
        elif code == PRODUCER_OPEN:
            channel_rules.before_producer_open(endpoints, endpoints_index, attachments, channels, topic_pauses, event)
            broker_rules.on_producer_open(
                Links(connectivity_row[0], connections, topics, subscriptions, attachments, endpoints),
                LinkIndexes(attachments_index, endpoints_index, counts),
                settings_row[0],
                t,
                c,
                event,
            )
            channel_rules.on_producer_open(
                connections[at_c], channels[at_c], channel_settings_row[0], attachments, attachments_index, topic_pauses[at_t], event
            )
        elif code == PRODUCER_CLOSE:
            channel_rules.before_producer_close(endpoints, endpoints_index, attachments, channels, topic_pauses, event)
            broker_rules.on_producer_close(
                Links(connectivity_row[0], connections, topics, subscriptions, attachments, endpoints), endpoints_index, topics[at_t], event
            )
            backlog_rules.on_producer_close(pending_decisions[at_t])
        elif code == QUOTA_ROUND:
            backlog_rules.on_quota_round(checking_row[0], event)
        elif code == QUOTA_CHECK:
            backlog_rules.on_quota_check(broker, backlog, counts, t, event)
            policy_rules.on_quota_check(broker, policy, counts, t, event)
        elif code == QUOTA_EXCEEDED:
            backlog_rules.on_quota_exceeded(broker, backlog, counts, t, event)
        elif code == CONN_OPEN:
            channel_rules.before_conn_open(
                Reach(connections[at_c], channels[at_c], attachments, topic_pauses, out_transitions, counts),
                channels,
                c,
                settings_row[0],
                channel_settings_row[0],
                Closing(closed_connections, closed_channels, counts),
                event,
            )
            broker_rules.on_conn_open(
                Links(connectivity_row[0], connections, topics, subscriptions, attachments, endpoints), settings_row[0], c, event
            )
            channel_rules.on_conn_open(connections[at_c], channels[at_c], channel_settings_row[0], event)
        elif code == CONN_CLOSE:
            channel_rules.before_conn_close(
                Reach(connections[at_c], channels[at_c], attachments, topic_pauses, out_transitions, counts),
                channels,
                c,
                settings_row[0],
                channel_settings_row[0],
                Closing(closed_connections, closed_channels, counts),
                event,
            )
            broker_rules.on_conn_close(Links(connectivity_row[0], connections, topics, subscriptions, attachments, endpoints), c)
        elif code == WRITABILITY:
            broker_rules.on_writability(connections[at_c], connectivity_row[0], settings_row[0], event)
            channel_rules.on_writability(
                Reach(connections[at_c], channels[at_c], attachments, topic_pauses, out_transitions, counts),
                Timing(timers, channel_clock_row[0], counts),
                c,
                channel_settings_row[0],
                settings_row[0],
                connectivity_row[0],
                write_buffers_row[0],
                event,
            )
            cause_rules.on_writability(broker, cause, c, event)
        elif code == THROTTLE:
            broker_rules.on_throttle(connections[at_c], connectivity_row[0], settings_row[0], event)
            channel_rules.on_throttle(
                Reach(connections[at_c], channels[at_c], attachments, topic_pauses, out_transitions, counts),
                channel_settings_row[0],
                settings_row[0],
                event,
            )
        elif code == REQUEST:
            broker_rules.on_request(connections[at_c], connectivity_row[0], settings_row[0], event)
            channel_rules.on_request(
                Reach(connections[at_c], channels[at_c], attachments, topic_pauses, out_transitions, counts),
                Timing(timers, channel_clock_row[0], counts),
                c,
                channel_settings_row[0],
                event,
            )
        elif code == FLOW:
            cause_rules.on_flow(
                Case(
                    charges[at_s],
                    chains[at_t],
                    s,
                    topics[at_t],
                    subscriptions[at_s],
                    cursors[at_s],
                    readings[at_s],
                    dispatchers[at_s],
                    settings_row[0],
                    pace_row[0],
                    connectivity_row[0],
                ),
                event,
            )
        elif code == CONSUMER_BLOCKED:
            cause_rules.on_consumer_blocked(
                Case(
                    charges[at_s],
                    chains[at_t],
                    s,
                    topics[at_t],
                    subscriptions[at_s],
                    cursors[at_s],
                    readings[at_s],
                    dispatchers[at_s],
                    settings_row[0],
                    pace_row[0],
                    connectivity_row[0],
                ),
                attachments,
                connections,
                event,
            )
        elif code == DELAYED:
            cause_rules.on_delayed(
                Case(
                    charges[at_s],
                    chains[at_t],
                    s,
                    topics[at_t],
                    subscriptions[at_s],
                    cursors[at_s],
                    readings[at_s],
                    dispatchers[at_s],
                    settings_row[0],
                    pace_row[0],
                    connectivity_row[0],
                ),
                attachments,
                connections,
                event,
            )
        elif code == REDELIVER:
            broker_rules.on_redeliver(cursors[at_s], event)
            cause_rules.on_redeliver(
                Case(
                    charges[at_s],
                    chains[at_t],
                    s,
                    topics[at_t],
                    subscriptions[at_s],
                    cursors[at_s],
                    readings[at_s],
                    dispatchers[at_s],
                    settings_row[0],
                    pace_row[0],
                    connectivity_row[0],
                ),
                attachments,
                connections,
                event,
            )
        elif code == READ_DONE:
            cause_rules.on_read_done(
                Case(
                    charges[at_s],
                    chains[at_t],
                    s,
                    topics[at_t],
                    subscriptions[at_s],
                    cursors[at_s],
                    readings[at_s],
                    dispatchers[at_s],
                    settings_row[0],
                    pace_row[0],
                    connectivity_row[0],
                ),
                event,
            )
        elif code == POLICY_SET:
            policy_rules.on_policy_set(broker_limit_row[0], set_policies, set_policies_index, subscription_limits, counts, s, event)
        elif code == PUBLISH_RATE:
            broker_rules.on_publish_rate(broker, t, event)
        elif code == TRANSACTION:
            cause_rules.on_transaction(chains[at_t], event)
        elif code == STATE:
            cause_rules.before_state(broker, cause, t, s, event)
            if broker_rules.needs_on_state(topics[at_t], cursors[at_s], settings_row[0], event):
                broker_rules.on_state(broker, t, s, event)
            if cause_rules.needs_on_state(topics[at_t], cursors[at_s], settings_row[0], event):
                cause_rules.on_state(broker, cause, t, s, event)
        elif code == TOPIC_STATE:
            if cause_rules.needs_before_topic_state(topics[at_t], settings_row[0], event):
                cause_rules.before_topic_state(chains[at_t], topics[at_t], event)
            if broker_rules.needs_on_topic_state(topics[at_t], settings_row[0], event):
                broker_rules.on_topic_state(topics[at_t], ledgers, ledgers_ends, event)
            if cause_rules.needs_on_topic_state(topics[at_t], settings_row[0], event):
                cause_rules.on_topic_state(broker, cause, t, event)
        elif code == CONSUMER_STATE:
            if broker_rules.needs_on_consumer_state(cursors[at_s], settings_row[0]):
                broker_rules.on_consumer_state(broker, counts, s, c, event)
            if cause_rules.needs_on_consumer_state(cursors[at_s], settings_row[0]):
                cause_rules.on_consumer_state(broker, cause, t, s, event)
        elif code == TRANSACTION_OPEN:
            cause_rules.on_transaction_open(chains[at_t], event)
        elif code == TRANSACTION_END:
            cause_rules.on_transaction_end(chains[at_t], event)
        elif code == BROKER_ACK:
            broker_rules.on_broker_ack(topics[at_t], marks, cursors[at_s], words, readings[at_s], event)
            cause_rules.on_broker_ack(
                Case(
                    charges[at_s],
                    chains[at_t],
                    s,
                    topics[at_t],
                    subscriptions[at_s],
                    cursors[at_s],
                    readings[at_s],
                    dispatchers[at_s],
                    settings_row[0],
                    pace_row[0],
                    connectivity_row[0],
                ),
                attachments,
                connections,
                event,
            )
        elif code == TOMBSTONE:
            broker_rules.on_tombstone(settings_row[0])
    return events.shape[0]
