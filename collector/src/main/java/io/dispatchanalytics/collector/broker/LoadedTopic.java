package io.dispatchanalytics.collector.broker;

import io.dispatchanalytics.collector.log.Json;
import io.dispatchanalytics.collector.names.Names;
import java.lang.ref.WeakReference;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.pulsar.broker.service.persistent.PersistentTopic;

/** What the collector knows of one loaded topic. It holds none of the broker's objects back from the garbage collector. */
public final class LoadedTopic {
    /** `,"topic":…` */
    public final byte[] fragment;
    final String name;
    final String ledgerName;
    /** Policies as they were written last. */
    final Map<String, byte[]> policies = new ConcurrentHashMap<>();
    volatile Set<String> overridden = Set.of();
    volatile long compactionBeganNs;
    private final WeakReference<PersistentTopic> topic;
    private final WeakReference<Object> ledger;
    private final Names names;
    private final Map<String, Sub> subs = new ConcurrentHashMap<>();
    private long averageMsgs = -1;
    private long averageBytes = -1;
    private final byte[][] quotas = new byte[2][];

    LoadedTopic(String name, String ledgerName, PersistentTopic topic, Object ledger, Names names) {
        this.name = name;
        this.ledgerName = ledgerName;
        this.topic = new WeakReference<>(topic);
        this.ledger = new WeakReference<>(ledger);
        this.names = names;
        this.fragment = Json.field("topic", names.topic(name));
    }

    /** The broker's own, or null: it is gone. */
    PersistentTopic topic() {
        return topic.get();
    }

    /** Whether this is the managed ledger of this load: an older one of the name may still report. */
    boolean isOf(Object managedLedger) {
        return ledger.get() == managedLedger;
    }

    /** A subscription by its name. */
    public Sub sub(String sub) {
        Sub known = subs.get(sub);
        return known != null ? known : subs.computeIfAbsent(sub, each -> new Sub(Json.joined(fragment, Json.field("sub", names.sub(each)))));
    }

    /** A subscription is gone: a topic sees thousands of readers, each with a name of its own. */
    void forget(String sub) {
        subs.remove(sub);
    }

    /** Whether the average publish rates differ from those that were written last. */
    synchronized boolean isNewAverage(long msgs, long bytes) {
        boolean isNew = averageMsgs != msgs || averageBytes != bytes;
        averageMsgs = msgs;
        averageBytes = bytes;
        return isNew;
    }

    /** Whether the payload of a quota differs from what was written last of its kind. */
    synchronized boolean isNewQuota(int kind, byte[] payload) {
        boolean isNew = !Arrays.equals(quotas[kind], payload);
        quotas[kind] = payload;
        return isNew;
    }
}
