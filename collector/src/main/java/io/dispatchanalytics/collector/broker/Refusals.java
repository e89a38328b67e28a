package io.dispatchanalytics.collector.broker;

import io.dispatchanalytics.collector.log.Event;
import io.dispatchanalytics.collector.log.EventQueue;
import io.dispatchanalytics.collector.log.Json;
import org.apache.pulsar.broker.service.Producer;
import org.apache.pulsar.common.policies.data.BacklogQuota;

/** Producers that the broker refuses to open. Their clients ask again and again. */
public final class Refusals {
    private static final long EVERY_NS = 1_000_000_000L;

    private final EventQueue queue;
    private final Topics topics;
    private final Connections connections;
    private final Summed<Key> sums = new Summed<>(EVERY_NS, this::write);

    /** `quota` and `policy` are null but for a quota, `conn` and `producer` below zero but for others. */
    private record Key(LoadedTopic topic, String error, String name, String quota, String policy, long conn, long producer) { }

    Refusals(EventQueue queue, Topics topics, Connections connections) {
        this.queue = queue;
        this.topics = topics;
        this.connections = connections;
    }

    /** By a backlog quota, before there is a producer. */
    public void byQuota(String topicName, String producer, String quotaType, BacklogQuota quota, Throwable fault) {
        LoadedTopic topic = topics.of(topicName);
        if (topic != null) {
            sums.add(new Key(topic, Faults.name(fault), producer, quotaType, quota.getPolicy().name(), -1, -1), 1);
        }
    }

    /** By the topic. */
    public void byTopic(Producer producer, Throwable fault) {
        LoadedTopic topic = topics.of(producer.getTopic().getName());
        if (topic != null && producer.getCnx() != null) {
            long conn = connections.of(producer.getCnx());
            sums.add(new Key(topic, Faults.name(fault), producer.getProducerName(), null, null, conn, producer.getProducerId()), 1);
        }
    }

    private void write(Key key, long sum, long commands) {
        Event event = Event.of(Fields.PRODUCER_REFUSED).with(key.topic.fragment).with(Json.field("error", key.error));
        if (key.quota != null) {
            event.with(Json.field("quota_type", key.quota)).with(Json.field("policy", key.policy));
        }
        String shown = topics.names().client(key.name);
        if (shown != null) {
            event.with(Json.field("producer_name", shown));
        }
        if (key.conn >= 0) {
            event.number(Fields.CONN, key.conn).number(Fields.PRODUCER, key.producer);
        }
        queue.put(commands == 1 ? event : event.number(Fields.COMMANDS, commands));
    }

    /** Once a second. */
    void heartbeat() {
        sums.heartbeat();
    }
}
