package io.dispatchanalytics.collector.broker;

import io.dispatchanalytics.collector.log.Json;
import io.dispatchanalytics.collector.names.Names;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.bookkeeper.mledger.ManagedCursor;
import org.apache.bookkeeper.mledger.ManagedLedger;
import org.apache.pulsar.broker.service.Subscription;
import org.apache.pulsar.broker.service.persistent.PersistentTopic;

/** The loaded topics whose life is in the log. Topics of the system are not among them. */
public final class Topics {
    private final Names names;
    private final Map<String, LoadedTopic> byName = new ConcurrentHashMap<>();
    private final Map<String, LoadedTopic> byLedger = new ConcurrentHashMap<>();

    /** None is loaded. */
    public Topics(Names names) {
        this.names = names;
    }

    /** The topic of this name, or null. */
    public LoadedTopic of(String topic) {
        return byName.get(topic);
    }

    /** The topic of this managed ledger, or null. */
    public LoadedTopic of(ManagedLedger ledger) {
        LoadedTopic topic = byLedger.get(ledger.getName());
        return topic != null && topic.isOf(ledger) ? topic : null;
    }

    /** A subscription of a loaded topic, or null. */
    Sub sub(Subscription of) {
        LoadedTopic topic = of(of.getTopicName());
        return topic == null ? null : topic.sub(of.getName());
    }

    /** A cursor of a loaded topic, or null. */
    Sub sub(ManagedCursor cursor) {
        LoadedTopic topic = of(cursor.getManagedLedger());
        return topic == null ? null : topic.sub(TopicLife.subOf(cursor));
    }

    /** All that are loaded now. */
    Collection<LoadedTopic> all() {
        return byName.values();
    }

    /** From now on events of this topic are written. */
    LoadedTopic add(PersistentTopic topic) {
        LoadedTopic loaded = new LoadedTopic(topic.getName(), topic.getManagedLedger().getName(), topic, topic.getManagedLedger(), names);
        byName.put(topic.getName(), loaded);
        byLedger.put(loaded.ledgerName, loaded);
        return loaded;
    }

    /** From now on they are not. Returns the topic, or null if it was not there. */
    LoadedTopic remove(String topic) {
        LoadedTopic loaded = byName.remove(topic);
        if (loaded != null) {
            byLedger.remove(loaded.ledgerName, loaded);
        }
        return loaded;
    }

    /** How names appear. */
    Names names() {
        return names;
    }

    /** `,"topic":…` also of topics of the system. */
    public byte[] fragment(String topic) {
        LoadedTopic loaded = byName.get(topic);
        return loaded != null ? loaded.fragment : Json.field("topic", names.topic(topic));
    }

    /** `,"topic":…,"sub":…` also of topics of the system. */
    public byte[] fragment(String topic, String sub) {
        LoadedTopic loaded = byName.get(topic);
        return loaded != null ? loaded.sub(sub).fragment : Json.joined(fragment(topic), Json.field("sub", names.sub(sub)));
    }
}
