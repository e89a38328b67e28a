package io.dispatchanalytics.collector.broker;

import io.dispatchanalytics.collector.log.Event;
import io.dispatchanalytics.collector.log.EventQueue;
import io.dispatchanalytics.collector.log.Fragments;
import java.util.HashMap;
import java.util.Map;
import org.apache.pulsar.broker.service.Consumer;
import org.apache.pulsar.broker.service.persistent.PersistentStickyKeyDispatcherMultipleConsumers;

/** Entries that a Key_Shared dispatcher puts aside, and why. Each call is under the dispatcher's lock. */
public final class BlockedKeys {
    private static final long EVERY_NS = 1_000_000_000L;
    private static final Fragments REASONS = new Fragments("reason");

    private final EventQueue queue;
    private final Topics topics;
    private final Connections connections;
    private final Summed<Key> sums = new Summed<>(EVERY_NS, this::write);
    private final ThreadLocal<Pass> pass = ThreadLocal.withInitial(Pass::new);

    private record Key(Sub sub, String reason, Consumer consumer, PersistentStickyKeyDispatcherMultipleConsumers dispatcher) {
        @Override
        public int hashCode() {
            return System.identityHashCode(sub) * 31 + reason.hashCode() + System.identityHashCode(consumer);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Key key && key.sub == sub && key.reason.equals(reason) && key.consumer == consumer;
        }
    }

    /** One look of a dispatcher at entries that it has read. */
    private static final class Pass {
        boolean runs;
        /** Why the broker refused the entry that it looks at. */
        String refused;
        final Map<Long, Key> ofHash = new HashMap<>();
        final Map<Key, Long> entries = new HashMap<>();
    }

    BlockedKeys(EventQueue queue, Topics topics, Connections connections) {
        this.queue = queue;
        this.topics = topics;
        this.connections = connections;
    }

    /** A dispatcher begins to sort entries by consumer. */
    public void begin() {
        pass.get().runs = true;
    }

    /** The key of an entry has a consumer with permits, and may not go to it. */
    public void refused(boolean keyInReplay) {
        pass.get().refused = keyInReplay ? "key_in_replay" : "draining";
    }

    /** An entry is put aside. Outside of begin() and end() it was given back, which `redeliver` reports. */
    public void putAside(PersistentStickyKeyDispatcherMultipleConsumers dispatcher, long hash) {
        Pass now = pass.get();
        if (!now.runs) {
            return;
        }
        // Once an entry of a key is put aside, all that follow are.
        Key key = now.ofHash.computeIfAbsent(hash, each -> key(dispatcher, (int) hash, now.refused));
        now.refused = null;
        if (key.sub != null) {
            now.entries.merge(key, 1L, Long::sum);
        }
    }

    private Key key(PersistentStickyKeyDispatcherMultipleConsumers dispatcher, int hash, String refused) {
        Consumer consumer = dispatcher.getSelector().select(hash);
        String reason = consumer == null ? "no_consumer" : refused != null ? refused : withoutPermits(consumer);
        return new Key(topics.sub(dispatcher.getSubscription()), reason, consumer, dispatcher);
    }

    /** The broker takes a consumer at its cap for one without permits. */
    private static String withoutPermits(Consumer consumer) {
        boolean capped = consumer.getMaxUnackedMessages() > 0 && consumer.getUnackedMessages() >= consumer.getMaxUnackedMessages();
        return capped && consumer.getAvailablePermits() > 0 ? "unacked_limit" : "no_permits";
    }

    /** The dispatcher has sorted all of them. */
    public void end() {
        Pass over = pass.get();
        over.runs = false;
        over.refused = null;
        over.ofHash.clear();
        if (!over.entries.isEmpty()) {
            over.entries.forEach(sums::add);
            over.entries.clear();
        }
    }

    /** The dispatcher does not read: its replay queue is full, or nobody has permits. */
    public void readsNothing(PersistentStickyKeyDispatcherMultipleConsumers dispatcher, boolean replayIsFull) {
        Sub sub = topics.sub(dispatcher.getSubscription());
        if (sub != null) {
            sums.add(new Key(sub, replayIsFull ? "look_ahead_limit" : "no_permits", null, dispatcher), 0);
        }
    }

    private void write(Key key, long entries, long commands) {
        Event event = Event.of(Fields.KEYS_BLOCKED).with(key.sub.fragment).with(REASONS.of(key.reason)).number(Fields.ENTRIES, entries)
                .number(Fields.REPLAY_ENTRIES, key.dispatcher.getNumberOfMessagesInReplay());
        if (key.consumer != null && key.consumer.cnx() != null) {
            event.number(Fields.CONN, connections.of(key.consumer.cnx())).number(Fields.CONSUMER, key.consumer.consumerId());
        }
        queue.put(commands == 1 ? event : event.number(Fields.COMMANDS, commands));
    }

    /** Once a second. */
    void heartbeat() {
        sums.heartbeat();
    }
}
