package io.dispatchanalytics.collector.broker;

import io.dispatchanalytics.collector.log.Event;
import io.dispatchanalytics.collector.log.EventQueue;
import io.dispatchanalytics.collector.log.Fragments;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.pulsar.broker.service.Consumer;
import org.apache.pulsar.broker.service.Subscription;
import org.apache.pulsar.broker.service.persistent.AbstractPersistentDispatcherMultipleConsumers;

/** What holds deliveries back: permits, caps of unacknowledged messages, entries for later, entries that come again. */
public final class Deliveries {
    private static final Fragments CAPS = new Fragments("cap");
    private static final Fragments CAUSES = new Fragments("cause");
    private static final String BY_CONSUMER = "consumer";
    private static final String BY_ABORT = "aborted";

    private final EventQueue queue;
    private final Topics topics;
    private final Connections connections;
    private final Summed<Consumer> flows;
    private final Set<Consumer> blockedConsumers = ConcurrentHashMap.newKeySet();
    /** Dispatchers that a cap stops, and which cap. */
    private final Map<Object, String> blockedDispatchers = new ConcurrentHashMap<>();
    /** Dispatchers that hold entries for later, and how many were written last. */
    private final Map<AbstractPersistentDispatcherMultipleConsumers, Long> delayed = new ConcurrentHashMap<>();

    Deliveries(EventQueue queue, Topics topics, Connections connections, long flowNs) {
        this.queue = queue;
        this.topics = topics;
        this.connections = connections;
        this.flows = new Summed<>(flowNs, this::write);
    }

    /** A consumer grants permits. Those of a short time become one event. */
    public void flow(Consumer consumer, long permits) {
        if (sub(consumer) == null || consumer.cnx() == null || permits <= 0) {
            return;
        }
        flows.add(consumer, permits);
    }

    private void write(Consumer consumer, long permits, long commands) {
        Sub sub = sub(consumer);
        if (sub != null) {
            Event event = of(Fields.FLOW, sub, consumer).number(Fields.PERMITS, permits);
            queue.put(commands == 1 ? event : event.number(Fields.COMMANDS, commands));
        }
    }

    /** A consumer is removed: nothing of it stays here. Before its `consumer_close` is written. */
    public void ended(Consumer consumer) {
        blockedConsumers.remove(consumer);
        flows.ended(consumer);
    }

    /** Once a second: what waits is written, levels that changed are written. */
    public void heartbeat() {
        flows.heartbeat();
        delayed.forEach(this::level);
    }

    /** A dispatcher keeps an entry for later. */
    public void holds(AbstractPersistentDispatcherMultipleConsumers dispatcher) {
        delayed.putIfAbsent(dispatcher, 0L);
    }

    private void level(AbstractPersistentDispatcherMultipleConsumers dispatcher, long written) {
        Subscription of = dispatcher.getSubscription();
        LoadedTopic topic = topics.of(of.getTopicName());
        long entries = topic == null || of.getDispatcher() != dispatcher ? 0 : dispatcher.getNumberOfDelayedMessages();
        if (topic != null && entries != written) {
            queue.put(Event.of(Fields.DELAYED).with(topic.sub(of.getName()).fragment).number(Fields.ENTRIES, entries));
        }
        if (entries == 0) {
            delayed.remove(dispatcher);
        } else {
            delayed.put(dispatcher, entries);
        }
    }

    /** A consumer may have reached its cap of unacknowledged messages, or left it. */
    public void consumerBlocked(Consumer consumer) {
        boolean blocked = consumer.isBlocked();
        boolean changed = blocked ? blockedConsumers.add(consumer) : blockedConsumers.remove(consumer);
        Sub sub = changed ? sub(consumer) : null;
        if (sub != null && consumer.cnx() != null) {
            Event event = of(Fields.CONSUMER_BLOCKED, sub, consumer).with(CAPS.of(BY_CONSUMER)).flag(Fields.ON, blocked);
            queue.put(event.number(Fields.UNACKED_MSGS, consumer.getUnackedMessages()).number(Fields.LIMIT, consumer.getMaxUnackedMessages()));
        }
    }

    /** A dispatcher may have been stopped by a cap of unacknowledged messages, or started again. */
    public void dispatcherBlocked(AbstractPersistentDispatcherMultipleConsumers dispatcher, String cap) {
        boolean blocked = dispatcher.isBlockedDispatcherOnUnackedMsgs();
        String by = blocked ? blockedDispatchers.putIfAbsent(dispatcher, cap) == null ? cap : null : blockedDispatchers.remove(dispatcher);
        Sub sub = by == null ? null : sub(dispatcher.getSubscription());
        if (sub != null) {
            queue.put(Event.of(Fields.CONSUMER_BLOCKED).with(sub.fragment).with(CAPS.of(by)).flag(Fields.ON, blocked)
                    .number(Fields.UNACKED_MSGS, dispatcher.getTotalUnackedMessages()));
        }
    }

    /** Entries of a consumer come again; below zero: the broker does not know how many. */
    public void redelivered(Consumer consumer, long entries, String cause) {
        Sub sub = sub(consumer);
        if (sub == null || consumer.cnx() == null || entries == 0) {
            return;
        }
        Event event = of(Fields.REDELIVER, sub, consumer).with(CAUSES.of(cause));
        queue.put(entries < 0 ? event : event.number(Fields.ENTRIES, entries));
    }

    /** Entries come again although no consumer asked: a transaction that had acknowledged them is aborted. */
    public void givenBack(AbstractPersistentDispatcherMultipleConsumers dispatcher, long entries) {
        Sub sub = sub(dispatcher.getSubscription());
        if (sub != null && entries > 0) {
            queue.put(Event.of(Fields.REDELIVER).with(sub.fragment).with(CAUSES.of(BY_ABORT)).number(Fields.ENTRIES, entries));
        }
    }

    /** A dispatcher is closed: nothing of it stays here. */
    public void dispatcherEnded(Object dispatcher) {
        blockedDispatchers.remove(dispatcher);
    }

    private Event of(byte[] type, Sub sub, Consumer consumer) {
        return Event.of(type).with(sub.fragment).number(Fields.CONSUMER, consumer.consumerId())
                .number(Fields.CONN, connections.of(consumer.cnx()));
    }

    private Sub sub(Consumer consumer) {
        return consumer.getSubscription() == null ? null : sub(consumer.getSubscription());
    }

    private Sub sub(Subscription of) {
        LoadedTopic topic = topics.of(of.getTopicName());
        return topic == null ? null : topic.sub(of.getName());
    }
}
