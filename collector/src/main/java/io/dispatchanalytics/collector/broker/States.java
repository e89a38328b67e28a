package io.dispatchanalytics.collector.broker;

import io.dispatchanalytics.collector.Collector;
import io.dispatchanalytics.collector.log.EventQueue;
import io.dispatchanalytics.collector.log.Json;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.apache.bookkeeper.mledger.ManagedCursor;
import org.apache.pulsar.broker.PulsarService;
import org.apache.pulsar.broker.service.Consumer;
import org.apache.pulsar.broker.service.Dispatcher;
import org.apache.pulsar.broker.service.Replicator;
import org.apache.pulsar.broker.service.persistent.DispatchRateLimiter;
import org.apache.pulsar.broker.service.persistent.PersistentReplicator;
import org.apache.pulsar.broker.service.persistent.PersistentSubscription;
import org.apache.pulsar.broker.service.persistent.PersistentTopic;

/**
 * What the broker holds, again and again: who misses what came before knows it from here on. On a thread of its own.
 *
 * A topic that is unloaded meanwhile may fail the look at it. It holds no lock of the collector while it asks the broker: hooks run under the broker's locks and take those.
 */
public final class States implements Runnable {
    private static final long LOOK_NS = 100_000_000L;
    /** After so many topics the thread pauses: the queue must not fill. */
    private static final int AT_ONCE = 100;
    private static final long PAUSE_NS = 2_000_000L;
    private static final byte[] BROKER = Json.field("level", "broker");
    private static final byte[] TOPIC = Json.field("level", "topic");
    private static final byte[] SUBSCRIPTION = Json.field("level", "subscription");
    private static final byte[] NOBODY = {};

    private final EventQueue queue;
    private final Topics topics;
    private final BrokerLife broker;
    private final long everyNs;
    private final SubStates subs;
    private final TopicStates ofTopics;
    private final ConsumerStates consumers;
    private final LimiterStates limiters;
    private volatile boolean fileStarted;

    States(EventQueue queue, Topics topics, Connections connections, BrokerLife broker, long everyNs) {
        this.queue = queue;
        this.topics = topics;
        this.broker = broker;
        this.everyNs = everyNs;
        this.subs = new SubStates(queue, connections);
        this.ofTopics = new TopicStates(queue);
        this.consumers = new ConsumerStates(queue, connections, topics.names());
        this.limiters = new LimiterStates(queue);
    }

    /** A file of the log begins: it shall have the state of everything near its start. */
    public void fileStarts() {
        fileStarted = true;
    }

    @Override
    public void run() {
        if (everyNs == 0) {
            return;
        }
        long nextNs = System.nanoTime() + everyNs;
        while (!queue.isClosed()) {
            LockSupport.parkNanos(LOOK_NS);
            boolean all = fileStarted;
            if (queue.isBegun() && (all || System.nanoTime() - nextNs >= 0)) {
                fileStarted = false;
                nextNs = System.nanoTime() + everyNs;
                write(all);
            }
        }
    }

    private void write(boolean all) {
        PulsarService service = broker.service();
        if (service != null) {
            Collector.looking("state", () -> ofBroker(service));
        }
        int count = 0;
        for (LoadedTopic loaded : topics.all()) {
            PersistentTopic topic = loaded.topic();
            if (topic != null) {
                Collector.looking("state", () -> of(loaded, topic, all));
            }
            if (++count % AT_ONCE == 0) {
                LockSupport.parkNanos(PAUSE_NS);
            }
        }
    }

    private void ofBroker(PulsarService service) {
        DispatchRateLimiter limiter = service.getBrokerService() == null ? null : service.getBrokerService().getBrokerDispatchRateLimiter();
        if (limiter != null) {
            limiters.write(BROKER, NOBODY, limiter, BrokerRate.of(service.getConfiguration()), queue.seq());
        }
    }

    private void of(LoadedTopic loaded, PersistentTopic topic, boolean all) {
        boolean lives = all;
        Map<String, Replicator> replicators = replicators(topic);
        for (ManagedCursor cursor : topic.getManagedLedger().getCursors()) {
            lives |= of(loaded, topic, cursor, replicators.get(cursor.getName()), all);
        }
        if (lives) {
            ofTopics.write(loaded, topic, queue.seq());
            topic.getDispatchRateLimiter().ifPresent(
                    limiter -> limiters.write(TOPIC, loaded.fragment, limiter, topic.getDispatchRate(), queue.seq()));
        }
    }

    private static Map<String, Replicator> replicators(PersistentTopic topic) {
        Map<String, Replicator> found = new HashMap<>();
        for (Replicator replicator : topic.getReplicators().values()) {
            if (replicator instanceof PersistentReplicator persistent) {
                found.put(persistent.getCursor().getName(), replicator);
            }
        }
        return found;
    }

    /** Returns whether anything of it was written. */
    private boolean of(LoadedTopic loaded, PersistentTopic topic, ManagedCursor cursor, Replicator replicator, boolean all) {
        String name = TopicLife.subOf(cursor);
        PersistentSubscription subscription = topic.getSubscription(name);
        Dispatcher dispatcher = subscription == null ? null : subscription.getDispatcher();
        Sub sub = loaded.sub(name);
        long asOfSeq = queue.seq();
        var rate = replicator == null ? null : topic.getReplicatorDispatchRate();
        if (!subs.write(new SubStates.Of(sub, cursor, dispatcher, replicator, rate), all, asOfSeq)) {
            return false;
        }
        if (dispatcher != null) {
            for (Consumer consumer : dispatcher.getConsumers()) {
                consumers.write(sub, consumer, all, queue.seq());
            }
            dispatcher.getRateLimiter().ifPresent(limiter ->
                    limiters.write(SUBSCRIPTION, sub.fragment, limiter, topic.getSubscriptionDispatchRate(name), queue.seq()));
        }
        return true;
    }
}
