package io.dispatchanalytics.collector.broker;

import io.dispatchanalytics.collector.log.Event;
import io.dispatchanalytics.collector.log.EventQueue;
import io.dispatchanalytics.collector.log.Fragments;
import io.dispatchanalytics.collector.log.Json;

/** Compactions and transactions: that they happen, no more. */
public final class Counted {
    private static final byte[] START = Json.field("phase", "start");
    private static final byte[] END = Json.field("phase", "end");
    private static final Fragments ACTIONS = new Fragments("transaction_action");

    private final EventQueue queue;
    private final Topics topics;

    Counted(EventQueue queue, Topics topics) {
        this.queue = queue;
        this.topics = topics;
    }

    /** A compaction began. */
    public void compactionStarted(String topicName) {
        LoadedTopic topic = topics.of(topicName);
        if (topic != null) {
            topic.compactionBeganNs = System.nanoTime();
            queue.put(Event.of(Fields.COMPACTION).with(topic.fragment).with(START));
        }
    }

    /** It ended; null: well. */
    public void compactionEnded(String topicName, Throwable fault) {
        LoadedTopic topic = topics.of(topicName);
        if (topic != null) {
            Event event = Event.of(Fields.COMPACTION).with(topic.fragment).with(END)
                    .number(Fields.DURATION_US, (System.nanoTime() - topic.compactionBeganNs) / 1000);
            queue.put(fault == null ? event : event.with(Json.field("error", Faults.name(fault))));
        }
    }

    /** Something of a transaction happened in a topic. */
    public void inTransaction(String topicName, String action) {
        LoadedTopic topic = topics.of(topicName);
        if (topic != null) {
            queue.put(Event.of(Fields.TRANSACTION).with(topic.fragment).with(ACTIONS.of(action)));
        }
    }

    /** Positions are acknowledged in a transaction. */
    public void ackInTransaction(String topicName, String sub) {
        LoadedTopic topic = topics.of(topicName);
        if (topic != null) {
            queue.put(Event.of(Fields.TRANSACTION).with(topic.sub(sub).fragment).with(ACTIONS.of("ack")));
        }
    }
}
