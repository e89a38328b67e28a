package io.dispatchanalytics.collector.broker;

import io.dispatchanalytics.collector.log.Event;
import io.dispatchanalytics.collector.log.EventQueue;
import io.dispatchanalytics.collector.log.Json;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.pulsar.broker.PulsarService;
import org.apache.pulsar.broker.service.BrokerService;
import org.apache.pulsar.broker.service.Topic;
import org.apache.pulsar.broker.service.persistent.PersistentTopic;

/** Start and end of the epoch, and what is written once a second. */
public final class BrokerLife {
    /** Of the log's contract (docs/reference/event-log.md). */
    private static final String LOG_VERSION = "1.2";

    private final EventQueue queue;
    private final TopicLife topicLife;
    private final Policies policies;
    private final Connections connections;
    private final List<Runnable> everySecond;
    private final Supplier<List<String>> missingPoints;
    private volatile PulsarService pulsar;
    private volatile boolean ending;
    private volatile BrokerSettings settings;
    private Map<String, String> written;

    BrokerLife(EventQueue queue, TopicLife topicLife, Policies policies, Connections connections, List<Runnable> everySecond,
            Supplier<List<String>> missingPoints) {
        this.queue = queue;
        this.topicLife = topicLife;
        this.policies = policies;
        this.connections = connections;
        this.everySecond = everySecond;
        this.missingPoints = missingPoints;
    }

    /** The broker's id, or null: the broker learns it after its own start has begun. */
    public String brokerId() {
        PulsarService known = pulsar;
        try {
            return known == null ? null : known.getBrokerId();
        } catch (NullPointerException notYet) {
            // So the broker answers until then.
            return null;
        }
    }

    /** The broker, or null before it is made. */
    PulsarService service() {
        return pulsar;
    }

    /** The broker is being made: the epoch begins. */
    public synchronized void begin(PulsarService service) {
        if (pulsar != null) {
            // A second broker in one process is a test of Pulsar's; its events would have the first one's name.
            return;
        }
        settings = new BrokerSettings(service.getConfiguration());
        written = settings.now();
        Event event = Event.of(Fields.BROKER_START)
                .with(Json.field("cluster", service.getConfiguration().getClusterName()))
                .with(Json.field("version", service.getBrokerVersion()))
                .with(Json.field("log_version", LOG_VERSION))
                .with(ascii(",\"settings\":{")).with(pairs(written)).with(ascii("}"))
                .with(ascii(",\"missing_points\":[")).with(list(missingPoints.get())).with(ascii("]"));
        queue.begin(event);
        pulsar = service;
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static byte[] pairs(Map<String, String> settings) {
        return settings.entrySet().stream().map(each -> quoted(each.getKey()) + ":" + quoted(each.getValue()))
                .collect(Collectors.joining(",")).getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] list(List<String> words) {
        return words.stream().map(BrokerLife::quoted).collect(Collectors.joining(",")).getBytes(StandardCharsets.UTF_8);
    }

    private static String quoted(String text) {
        return new String(Json.quoted(text), StandardCharsets.UTF_8);
    }

    /** The broker was there before the collector: the epoch begins with what is loaded now. */
    public void meet(BrokerService broker) {
        begin(broker.getPulsar());
        if (broker.getBrokerDispatchRateLimiter() != null) {
            policies.rate(broker.getBrokerDispatchRateLimiter(), BrokerRate.of(broker.getPulsar().getConfiguration()));
        }
        for (Topic topic : loaded(broker)) {
            if (topic instanceof PersistentTopic persistent) {
                topicLife.meet(persistent);
            }
        }
    }

    private static List<Topic> loaded(BrokerService broker) {
        List<Topic> topics = new java.util.ArrayList<>();
        broker.forEachTopic(topics::add);
        return topics;
    }

    /** The broker has begun to close itself. */
    public void ending() {
        ending = true;
    }

    /** Whether it has. */
    public boolean isEnding() {
        return ending;
    }

    /** The broker has ended: nothing follows. */
    public void end() {
        queue.end(Event.of(Fields.BROKER_STOP));
    }

    /** Once a second: time goes on, and settings that were changed meanwhile. */
    public void heartbeat() {
        if (!queue.isBegun()) {
            return;
        }
        Map<String, String> now = settings.now();
        now.forEach((key, value) -> {
            if (!value.equals(written.get(key))) {
                queue.put(Event.of(Fields.SETTING).with(Json.field("key", key)).with(Json.field("value", value)));
            }
        });
        written = now;
        everySecond.forEach(Runnable::run);
        long pendingBytes = connections.pendingBytes();
        queue.put(Event.of(Fields.HEARTBEAT).number(Fields.DROPPED, queue.dropped()).number(Fields.PENDING_BYTES, pendingBytes));
    }
}
