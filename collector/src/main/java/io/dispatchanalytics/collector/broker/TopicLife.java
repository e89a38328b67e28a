package io.dispatchanalytics.collector.broker;

import io.dispatchanalytics.collector.log.Event;
import io.dispatchanalytics.collector.log.EventQueue;
import io.dispatchanalytics.collector.log.Fragments;
import io.dispatchanalytics.collector.log.Json;
import io.dispatchanalytics.collector.names.Names;
import java.util.Map;
import org.apache.bookkeeper.mledger.ManagedCursor;
import org.apache.bookkeeper.mledger.ManagedLedger;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.impl.ManagedCursorContainer;
import org.apache.bookkeeper.mledger.proto.MLDataFormats.ManagedLedgerInfo.LedgerInfo;
import org.apache.pulsar.broker.service.Consumer;
import org.apache.pulsar.broker.service.Dispatcher;
import org.apache.pulsar.broker.service.Producer;
import org.apache.pulsar.broker.service.persistent.PersistentSubscription;
import org.apache.pulsar.broker.service.persistent.PersistentTopic;
import org.apache.pulsar.common.util.Codec;

/** Load and unload of topics, with all that a reader must know of a topic when its events begin. */
public final class TopicLife {
    private static final String SCHEME = "persistent://";
    private static final Fragments KINDS = new Fragments("cursor_kind");
    /** As `replicatorPrefix` is by default. */
    private static final String REPLICATOR_PREFIX = "pulsar.repl";
    private static final String COMPACTION_CURSOR = "__compaction";
    private static final byte[] SNAPSHOT = ",\"snapshot\":true".getBytes(java.nio.charset.StandardCharsets.US_ASCII);

    private final EventQueue queue;
    private final Topics topics;
    private final Policies policies;
    private final Connections connections;

    TopicLife(EventQueue queue, Topics topics, Policies policies, Connections connections) {
        this.queue = queue;
        this.topics = topics;
        this.policies = policies;
        this.connections = connections;
    }

    /** A topic object was made. Nobody else knows it yet. */
    public void load(PersistentTopic topic) {
        // A collector that was attached a moment ago has not begun: it will meet this topic.
        if (isLogged(topic.getName()) && queue.isBegun()) {
            begin(topic);
            policies.loaded(topic);
        }
    }

    /** A topic that was loaded before the collector: as load(), and what is connected to it. */
    void meet(PersistentTopic topic) {
        if (!isLogged(topic.getName()) || topics.of(topic.getName()) != null) {
            return;
        }
        begin(topic);
        policies.met(topic);
        topic.getDispatchRateLimiter().ifPresent(limiter -> policies.rate(limiter, topic.getDispatchRate()));
        for (Producer producer : topic.getProducers().values()) {
            producerOpened(topic.getName(), producer);
        }
        for (Map.Entry<String, PersistentSubscription> each : topic.getSubscriptions().entrySet()) {
            Dispatcher dispatcher = each.getValue().getDispatcher();
            if (dispatcher != null) {
                meet(topic, each.getKey(), dispatcher);
            }
        }
    }

    private void meet(PersistentTopic topic, String sub, Dispatcher dispatcher) {
        dispatcherOpened(topic.getName(), sub, dispatcher);
        dispatcher.getRateLimiter().ifPresent(limiter -> policies.rate(limiter, topic.getSubscriptionDispatchRate(sub)));
        for (Consumer consumer : dispatcher.getConsumers()) {
            consumerOpened(topic.getName(), sub, consumer);
        }
    }

    private static boolean isLogged(String topic) {
        return topic.startsWith(SCHEME) && !Names.isOfSystem(topic);
    }

    private void begin(PersistentTopic topic) {
        // A load that failed halfway is not unloaded by the broker.
        unload(topic.getName());
        ManagedLedger ledger = topic.getManagedLedger();
        // Ledgers change under this monitor: a change is before the snapshot and in it, or after it.
        synchronized (ledger) {
            LoadedTopic loaded = topics.add(topic);
            queue.put(Event.of(Fields.TOPIC_LOAD).with(loaded.fragment));
            ledgers(ledger, loaded);
            if (ledger.getCursors() instanceof ManagedCursorContainer container) {
                for (CursorHeap.Placed placed : CursorHeap.of(container)) {
                    cursorOpened(loaded, placed.cursor(), placed.position(), true);
                }
            }
        }
    }

    private void ledgers(ManagedLedger ledger, LoadedTopic topic) {
        for (LedgerInfo info : ledger.getLedgersInfo().values()) {
            if (info.getTimestamp() > 0) {
                queue.put(closed(topic, info).with(SNAPSHOT));
            } else {
                queue.put(Event.of(Fields.LEDGER_OPEN).with(topic.fragment).number(Fields.LEDGER, info.getLedgerId()).with(SNAPSHOT));
            }
        }
    }

    private static Event closed(LoadedTopic topic, LedgerInfo info) {
        return Event.of(Fields.LEDGER_CLOSE).with(topic.fragment).number(Fields.LEDGER, info.getLedgerId())
                .number(Fields.ENTRIES, info.getEntries()).number(Fields.BYTES, info.getSize())
                .number(Fields.CLOSE_TS, info.getTimestamp());
    }

    /** A topic object was dropped. */
    public void unload(String topic) {
        LoadedTopic loaded = topics.remove(topic);
        if (loaded != null) {
            queue.put(Event.of(Fields.TOPIC_UNLOAD).with(loaded.fragment));
        }
    }

    /** A ledger was opened for new entries. */
    public void ledgerOpened(ManagedLedger ledger, long id) {
        LoadedTopic topic = topics.of(ledger);
        if (topic != null) {
            queue.put(Event.of(Fields.LEDGER_OPEN).with(topic.fragment).number(Fields.LEDGER, id));
        }
    }

    /** A ledger was closed; null: it was empty and is not kept. */
    public void ledgerClosed(ManagedLedger ledger, long id, LedgerInfo info, long nowMs) {
        LoadedTopic topic = topics.of(ledger);
        if (topic == null) {
            return;
        }
        if (info != null) {
            queue.put(closed(topic, info));
        } else {
            queue.put(Event.of(Fields.LEDGER_CLOSE).with(topic.fragment).number(Fields.LEDGER, id).number(Fields.ENTRIES, 0)
                    .number(Fields.BYTES, 0).number(Fields.CLOSE_TS, nowMs));
            ledgerTrimmed(ledger, id);
        }
    }

    /** A ledger was removed from the list. */
    public void ledgerTrimmed(ManagedLedger ledger, long id) {
        LoadedTopic topic = topics.of(ledger);
        if (topic != null) {
            queue.put(Event.of(Fields.LEDGER_TRIM).with(topic.fragment).number(Fields.LEDGER, id));
        }
    }

    /** A cursor was added to a managed ledger. */
    public void cursorOpened(ManagedLedger ledger, ManagedCursor cursor) {
        LoadedTopic topic = topics.of(ledger);
        if (topic != null) {
            cursorOpened(topic, cursor, cursor.getMarkDeletedPosition(), false);
        }
    }

    private void cursorOpened(LoadedTopic topic, ManagedCursor cursor, Position ordered, boolean snapshot) {
        Sub sub = topic.sub(subOf(cursor));
        synchronized (sub) {
            Position marked = cursor.getMarkDeletedPosition();
            Position position = ordered != null ? ordered : marked;
            if (position == null) {
                return;
            }
            sub.setPersisted(position.getLedgerId(), position.getEntryId());
            Event event = Event.of(Fields.CURSOR_OPEN).with(sub.fragment).flag(Fields.DURABLE, cursor.isDurable()).with(KINDS.of(kindOf(cursor)))
                    .number(Fields.LEDGER, position.getLedgerId()).number(Fields.ENTRY, position.getEntryId());
            if (snapshot) {
                long deleted = DeletedEntries.behind(cursor.getManagedLedger(), cursor, position);
                queue.put((deleted == DeletedEntries.UNKNOWN ? event : event.number(Fields.ENTRIES, deleted)).with(SNAPSHOT));
            } else {
                queue.put(event);
            }
            if (!marked.equals(position)) {
                CursorMoves.write(queue, sub, marked, false, false, null);
            }
        }
    }

    /** A cursor was removed. */
    public void cursorClosed(ManagedLedger ledger, ManagedCursor cursor) {
        LoadedTopic topic = topics.of(ledger);
        if (topic != null) {
            String name = subOf(cursor);
            Sub sub = topic.sub(name);
            queue.put(Event.of(Fields.CURSOR_CLOSE).with(sub.fragment));
            if (sub.endsWithCursor()) {
                topic.forget(name);
            }
        }
    }

    /** Whose cursor it is, by the names that the broker gives to its own. */
    static String kindOf(ManagedCursor cursor) {
        String name = cursor.getName();
        if (name.equals(PersistentTopic.DEDUPLICATION_CURSOR_NAME)) {
            return "deduplication";
        }
        if (name.startsWith(REPLICATOR_PREFIX)) {
            return "replicator";
        }
        if (name.equals(COMPACTION_CURSOR)) {
            return "compaction";
        }
        return cursor.isDurable() ? "subscription" : "reader";
    }

    /** The subscription of a cursor: the broker encodes the names of durable ones. */
    static String subOf(ManagedCursor cursor) {
        String name = cursor.getName();
        return name.indexOf('%') < 0 && name.indexOf('+') < 0 || !cursor.isDurable() ? name : Codec.decode(name);
    }

    /** A dispatcher was made. The one that it replaces ends first, though the broker closes it later. */
    public void dispatcherOpened(String topicName, String subName, Dispatcher dispatcher) {
        LoadedTopic topic = topics.of(topicName);
        if (topic == null) {
            return;
        }
        Sub sub = topic.sub(subName);
        if (sub.replaceDispatcher(dispatcher)) {
            queue.put(Event.of(Fields.DISPATCHER_CLOSE).with(sub.fragment));
        }
        queue.put(Event.of(Fields.DISPATCHER_OPEN).with(sub.fragment).with(Json.field("sub_type", dispatcher.getType().name())));
    }

    /** A dispatcher was closed; twice is reported once. */
    public void dispatcherClosed(String topicName, String subName, Dispatcher dispatcher) {
        LoadedTopic topic = topics.of(topicName);
        Sub sub = topic == null ? null : topic.sub(subName);
        if (sub != null && sub.closeDispatcher(dispatcher)) {
            queue.put(Event.of(Fields.DISPATCHER_CLOSE).with(sub.fragment));
            if (sub.endsWithDispatcher()) {
                topic.forget(subName);
            }
        }
    }

    /** A consumer was added. */
    public void consumerOpened(String topicName, String subName, Consumer consumer) {
        consumer(Fields.CONSUMER_OPEN, topicName, subName, consumer, true);
    }

    /** A consumer was removed. */
    public void consumerClosed(String topicName, String subName, Consumer consumer) {
        consumer(Fields.CONSUMER_CLOSE, topicName, subName, consumer, false);
    }

    private void consumer(byte[] type, String topicName, String subName, Consumer consumer, boolean named) {
        LoadedTopic topic = topics.of(topicName);
        // A consumer without a connection is the broker's own.
        if (topic != null && consumer.cnx() != null) {
            long connection = connections.of(consumer.cnx());
            Event event = Event.of(type).with(topic.sub(subName).fragment).number(Fields.CONSUMER, consumer.consumerId())
                    .number(Fields.CONN, connection);
            queue.put(named ? who(event, consumer, topics.names()) : event);
        }
    }

    /** How an operator knows a consumer. */
    static Event who(Event event, Consumer consumer, Names names) {
        String name = names.client(consumer.consumerName());
        if (name != null) {
            event.with(Json.field("consumer_name", name));
        }
        return event.number(Fields.PRIORITY_LEVEL, consumer.getPriorityLevel());
    }

    /** A producer was added. */
    public void producerOpened(String topicName, Producer producer) {
        producer(Fields.PRODUCER_OPEN, topicName, producer);
    }

    /** A producer was removed. */
    public void producerClosed(String topicName, Producer producer) {
        producer(Fields.PRODUCER_CLOSE, topicName, producer);
    }

    private void producer(byte[] type, String topicName, Producer producer) {
        LoadedTopic topic = topics.of(topicName);
        if (topic != null && producer.getCnx() != null) {
            long connection = connections.of(producer.getCnx());
            queue.put(Event.of(type).with(topic.fragment).number(Fields.PRODUCER, producer.getProducerId())
                    .number(Fields.CONN, connection));
        }
    }
}
