"""What each event changes in the broker itself. Every rule is called once per event, between the packages' `before_…` and `on_…` rules."""

from typing import Any

from pipeline.rules import fields
from pipeline.rules.array import Array
from pipeline.rules.blocks import Blocks
from pipeline.rules.broker.ack_rules import on_ack as on_ack
from pipeline.rules.broker.ack_rules import on_broker_ack as on_broker_ack
from pipeline.rules.broker.ack_rules import on_mark_delete as on_mark_delete
from pipeline.rules.broker.ack_rules import on_redeliver as on_redeliver
from pipeline.rules.broker.attachments import LinkIndexes, Links, attach, detach, owner_of
from pipeline.rules.broker.connections import close_connection, ensure_connected, open_connection, set_writable
from pipeline.rules.broker.cursor_life import close_cursor, open_cursor
from pipeline.rules.broker.cursors import backlog_entries
from pipeline.rules.broker.deleted import pass_deleted
from pipeline.rules.broker.dispatchers import close_dispatcher, ensure_open, open_dispatcher
from pipeline.rules.broker.in_flight import (
    deliver,
    forget_in_flight,
    forget_passed,
    note_delivered_up_to,
)
from pipeline.rules.broker.layout import BROKER, BYTES, CONSUMING, MSG, NONE, PRODUCING, TOPIC
from pipeline.rules.broker.ledgers import close_ledger, find_ledger, grow_ledger, meet_ledger, trim_ledger
from pipeline.rules.broker.limiter import apply_dispatch_rate, follow_average
from pipeline.rules.broker.marks import forget_marks, mark_entry
from pipeline.rules.broker.readings import count_consumer, meet_reading, open_reading, read_up_to
from pipeline.rules.broker.state_rules import needs_on_consumer_state as needs_on_consumer_state
from pipeline.rules.broker.state_rules import needs_on_state as needs_on_state
from pipeline.rules.broker.state_rules import needs_on_topic_state as needs_on_topic_state
from pipeline.rules.broker.state_rules import on_consumer_state as on_consumer_state
from pipeline.rules.broker.state_rules import on_state as on_state
from pipeline.rules.broker.state_rules import on_topic_state as on_topic_state
from pipeline.rules.broker.topics import is_load_seen, load_topic, meet_topic, set_quota, unload_topic
from pipeline.rules.compiled import compiled_part, inlined_part
from pipeline.rules.index import EMPTY, find
from pipeline.rules.integers import add
from pipeline.rules.records import Record, Records
from pipeline.rules.segments import USED, first_row


@compiled_part
def on_broker_start(settings: Record, event: Array) -> None:
    """The process starts with these settings."""
    settings.started = 1
    settings.version, settings.missing_events = event[fields.VERSION], event[fields.MISSING_EVENTS]
    on_setting(settings, event)


@compiled_part
def on_setting(settings: Record, event: Array) -> None:
    """A dynamic setting changed."""
    if fields.has(event, fields.BATCH_MODE):
        settings.batch_mode = event[fields.BATCH_MODE]
    if fields.has(event, fields.PRECISE_CHECK):
        settings.precise_check = event[fields.PRECISE_CHECK]
    if fields.has(event, fields.CHECK_ENABLED):
        settings.check_enabled = event[fields.CHECK_ENABLED]
    if fields.has(event, fields.CHECK_INTERVAL_S):
        settings.check_interval_s = event[fields.CHECK_INTERVAL_S]


@compiled_part
def on_tombstone(settings: Record) -> None:
    """An event of the broker was quarantined: nothing that is alive is complete any more."""
    settings.losses += 1
    settings.events_lost += 1


@compiled_part
def on_dispatch_rate(broker: Any, t: int, s: int, event: Array) -> None:
    """A limiter was created, or its rate re-applied (§1.5). A subscription's belongs to its dispatcher."""
    settings, level = broker.settings[0], event[fields.LEVEL]
    if level == BROKER:
        apply_dispatch_rate(broker.broker_limiter[0], event, settings.started == 1, settings.losses)
    elif level == TOPIC:
        topic = broker.topics[t]
        apply_dispatch_rate(broker.topic_limiters[t], event, is_load_seen(topic), settings.losses)
        if topic.average_known == 1:
            follow_average(broker.topic_limiters[t], topic.average, True)
    else:
        dispatcher = broker.dispatchers[s]
        ensure_open(dispatcher, broker.subscriptions[s], settings, event[fields.TS])
        apply_dispatch_rate(broker.subscription_limiters[s], event, dispatcher.began_complete == 1, settings.losses)
        if broker.topics[t].average_known == 1:
            follow_average(broker.subscription_limiters[s], broker.topics[t].average, True)


@compiled_part
def on_publish_rate(broker: Any, t: int, event: Array) -> None:
    """The publish average that relative rates of the topic and of its subscriptions follow."""
    topic = broker.topics[t]
    topic.average_known = 1
    topic.average[MSG], topic.average[BYTES] = event[fields.AVERAGE_MSGS], event[fields.AVERAGE_BYTES]
    follow_average(broker.topic_limiters[t], topic.average, False)
    s = topic.first_subscription
    while s != NONE:
        follow_average(broker.subscription_limiters[s], topic.average, False)
        s = broker.subscriptions[s].next_of_topic


@compiled_part
def on_topic_load(broker: Any, t: int, event: Array) -> None:
    """The topic's object is made."""
    load_topic(broker, t, event[fields.TS])


@compiled_part
def on_topic_unload(broker: Any, t: int, event: Array) -> None:
    """The topic's object is dropped."""
    unload_topic(broker, t, event[fields.TS])


@compiled_part
def on_backlog_quota(topic: Record, event: Array) -> None:
    """The effective quota of one type."""
    set_quota(topic, event)


@compiled_part
def on_ledger_open(topic: Record, ledgers: Records, ledgers_ends: Array, event: Array) -> None:
    """A ledger opens. One opened at a load begins after everything confirmed; one opened by a roll-over confirms nothing yet (§2.2)."""
    meet_topic(topic)
    row = meet_ledger(topic, ledgers, ledgers_ends, event[fields.LEDGER])
    ledgers[row].closed = 0
    if event[fields.OPENED_SNAPSHOT] == 1:
        topic.confirmed_ledger = max(topic.confirmed_ledger, event[fields.LEDGER])


@compiled_part
def on_ledger_close(topic: Record, ledgers: Records, ledgers_ends: Array, event: Array) -> None:
    """A ledger is closed with these totals."""
    meet_topic(topic)
    row = meet_ledger(topic, ledgers, ledgers_ends, event[fields.LEDGER])
    close_ledger(topic, ledgers, row, event[fields.CLOSED_ENTRIES], event[fields.CLOSED_BYTES], event[fields.CLOSE_TS])


@compiled_part
def on_ledger_trim(broker: Any, t: int, event: Array) -> None:
    """A ledger goes; entries of it that a cursor still had to read are gone for it."""
    topic, ledgers, cursors, ledger = broker.topics[t], broker.ledgers, broker.cursors, event[fields.LEDGER]
    meet_topic(topic)
    row = find_ledger(topic, ledgers, ledger)
    if row < 0:
        return
    last = ledgers[row].entries - 1
    s = topic.first_cursor
    while s != NONE:
        cursors[s].expired += backlog_entries(topic, ledgers, cursors[s])
        pass_deleted(cursors[s], broker.words, ledger, last)
        s = cursors[s].next_of_topic
    trim_ledger(topic, ledgers, ledger)
    s = topic.first_cursor
    while s != NONE:
        cursors[s].expired -= backlog_entries(topic, ledgers, cursors[s])
        s = cursors[s].next_of_topic
    forget_marks(topic, broker.marks, ledgers[first_row(topic.ledgers)].ledger if topic.ledgers[USED] > 0 else ledger + 1)


@inlined_part
def on_publish(topic: Record, ledgers: Records, ledgers_ends: Array, marks: Blocks, event: Array) -> None:
    """An entry was persisted."""
    meet_topic(topic)
    ledger, entry = event[fields.LEDGER], event[fields.ENTRY]
    row = meet_ledger(topic, ledgers, ledgers_ends, ledger)
    if entry < ledgers[row].entries:
        return  # of one ledger the order is exact: this entry was reported before
    # A ledger that was met in mid-life has the entries before this one too; nobody knows of what size.
    grow_ledger(topic, ledgers, row, entry + 1 - ledgers[row].entries, event[fields.PUBLISHED_BYTES])
    mark_entry(topic, marks, ledger, entry, event[fields.PUBLISHED_MSGS], event[fields.PUBLISH_TS])
    topic.confirmed_ledger = max(topic.confirmed_ledger, ledger)


@compiled_part
def on_producer_open(links: Links, link_indexes: LinkIndexes, settings: Record, t: int, c: int, event: Array) -> None:
    """A producer is connected."""
    links.topics[t].producers += 1
    ensure_connected(links.connections[c], links.connectivity, settings, event[fields.SEQ], event[fields.TS])
    attach(links, link_indexes, c, PRODUCING, t, event[fields.TOPIC_ID], event[fields.PRODUCER])


@compiled_part
def on_producer_close(links: Links, endpoints_index: Array, topic: Record, event: Array) -> None:
    """A producer is gone."""
    topic.producers = max(0, topic.producers - 1)
    e = find(endpoints_index, links.endpoints, event[fields.PRODUCER], owner_of(PRODUCING, event[fields.CONN]))
    if e != EMPTY:
        detach(links, PRODUCING, e)


@compiled_part
def on_cursor_open(broker: Any, t: int, s: int, event: Array) -> None:
    """A cursor, and with it where its subscription reads."""
    meet_topic(broker.topics[t])
    open_cursor(broker, t, s, event)
    open_reading(
        broker.readings[s], broker.topics[t], broker.ledgers, event[fields.LEDGER], event[fields.ENTRY], event[fields.CURSOR_ENTRIES]
    )  # fmt: skip


@compiled_part
def on_cursor_close(broker: Any, t: int, s: int, event: Array) -> None:
    """Unsubscribed, or the reader is gone."""
    close_cursor(broker, t, s, event[fields.TS])
    broker.readings[s].known = 0


@compiled_part
def on_dispatcher_open(broker: Any, t: int, s: int, event: Array) -> None:
    """A new dispatcher; one that stood there is gone."""
    close_dispatcher(broker.dispatchers, broker.subscription_limiters, s)
    meet_reading(broker.readings[s], broker.topics[t])
    complete = is_load_seen(broker.topics[t])
    open_dispatcher(broker.dispatchers[s], broker.subscriptions[s], broker.settings[0], event[fields.TS], event[fields.SUB_TYPE], complete)


@compiled_part
def on_dispatcher_close(dispatchers: Records, subscription_limiters: Records, cursor: Record, s: int) -> None:
    """The dispatcher is gone, and with it what its consumers had."""
    close_dispatcher(dispatchers, subscription_limiters, s)
    forget_in_flight(cursor)


@compiled_part
def on_consumer_open(
    links: Links, link_indexes: LinkIndexes, topic: Record, reading: Record, settings: Record, s: int, c: int, event: Array
) -> None:
    """A consumer is connected."""
    meet_reading(reading, topic)
    count_consumer(reading, topic, True)
    ensure_connected(links.connections[c], links.connectivity, settings, event[fields.SEQ], event[fields.TS])
    attach(links, link_indexes, c, CONSUMING, s, event[fields.SUB_ID], event[fields.CONSUMER])


@compiled_part
def on_consumer_close(links: Links, endpoints_index: Array, topic: Record, reading: Record, cursor: Record, event: Array) -> None:
    """A consumer is gone; with the last one what was in flight goes back. That of a reader is gone after its cursor."""
    if cursor.open == 1:
        meet_reading(reading, topic)
        count_consumer(reading, topic, False)
        if reading.consumers == 0:
            forget_in_flight(cursor)
            reading.has_passed = 0
    e = find(endpoints_index, links.endpoints, event[fields.CONSUMER], owner_of(CONSUMING, event[fields.CONN]))
    if e != EMPTY:
        detach(links, CONSUMING, e)


@inlined_part
def on_read(
    topic: Record, reading: Record, cursor: Record, dispatcher: Record, subscription: Record, settings: Record, event: Array
) -> None:
    """The read limits were evaluated: who reads is there."""
    meet_reading(reading, topic)
    if reading.has_passed == 1:
        reading.has_passed = 0
        forget_passed(cursor, settings.version)
    ensure_open(dispatcher, subscription, settings, event[fields.TS])


@inlined_part
def on_dispatch(
    topic: Record, reading: Record, cursor: Record, dispatcher: Record, subscription: Record, settings: Record, event: Array
) -> None:
    """Entries were delivered to consumers."""
    meet_reading(reading, topic)
    ensure_open(dispatcher, subscription, settings, event[fields.TS])
    read_up_to(reading, topic, add(reading.entries, event[fields.ENTRIES]), add(reading.bytes, event[fields.SIZE]))
    if cursor.open == 1:
        deliver(cursor, event[fields.ENTRIES], event[fields.MSGS])
        if fields.has(event, fields.LAST_ENTRY):
            note_delivered_up_to(cursor, event[fields.LAST_LEDGER], event[fields.LAST_ENTRY])


@compiled_part
def on_conn_open(links: Links, settings: Record, c: int, event: Array) -> None:
    """A connection; one of that id that is still there is gone."""
    close_connection(links, c)
    open_connection(links.connections[c], links.connectivity, settings, event[fields.SEQ], event[fields.TS], settings.started == 1)


@compiled_part
def on_conn_close(links: Links, c: int) -> None:
    """The connection is gone, with its producers and consumers."""
    close_connection(links, c)


@compiled_part
def on_writability(connection: Record, connectivity: Record, settings: Record, event: Array) -> None:
    """The channel crossed a water mark."""
    ensure_connected(connection, connectivity, settings, event[fields.SEQ], event[fields.TS])
    set_writable(connection, connectivity, event[fields.WRITABLE], event[fields.PENDING_BYTES])


@compiled_part
def on_throttle(connection: Record, connectivity: Record, settings: Record, event: Array) -> None:
    """Who has to wait is there. A reason that ends may be the last trace of a connection that is gone."""
    if event[fields.THROTTLE_ON] == 1:
        ensure_connected(connection, connectivity, settings, event[fields.SEQ], event[fields.TS])


@compiled_part
def on_request(connection: Record, connectivity: Record, settings: Record, event: Array) -> None:
    """Who asks is there."""
    ensure_connected(connection, connectivity, settings, event[fields.SEQ], event[fields.TS])
