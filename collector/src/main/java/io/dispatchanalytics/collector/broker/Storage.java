package io.dispatchanalytics.collector.broker;

import io.dispatchanalytics.collector.log.Event;
import io.dispatchanalytics.collector.log.EventQueue;
import io.dispatchanalytics.collector.log.Json;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.bookkeeper.mledger.Entry;
import org.apache.bookkeeper.mledger.ManagedCursor;
import org.apache.pulsar.broker.service.Subscription;

/** Reads of storage: how long they take, what they give. */
public final class Storage {
    private static final byte[] REPLAY = ",\"replay\":true".getBytes(StandardCharsets.US_ASCII);

    private final EventQueue queue;
    private final Topics topics;

    Storage(EventQueue queue, Topics topics) {
        this.queue = queue;
        this.topics = topics;
    }

    /** A cursor asks its ledgers, first or for more. It has waited for entries before. */
    public void asked(ManagedCursor cursor) {
        LoadedTopic topic = topics.of(cursor.getManagedLedger());
        if (topic != null) {
            topic.sub(TopicLife.subOf(cursor)).readBegins(System.nanoTime());
        }
    }

    /** A dispatcher got entries. */
    public void gave(Subscription of, List<Entry> entries, boolean replay) {
        long bytes = 0;
        for (int at = 0; at < entries.size(); at++) {
            bytes += entries.get(at).getLength();
        }
        done(of, entries.size(), bytes, replay, null);
    }

    /** It did not. */
    public void failed(Subscription of, Throwable fault, boolean replay) {
        done(of, 0, 0, replay, fault);
    }

    private void done(Subscription of, long entries, long bytes, boolean replay, Throwable fault) {
        LoadedTopic topic = topics.of(of.getTopicName());
        if (topic == null) {
            return;
        }
        Sub sub = topic.sub(of.getName());
        // A replay reads beside a normal read, without a cursor's position.
        long beganNs = replay ? 0 : sub.readEnds();
        Event event = Event.of(Fields.READ_DONE).with(sub.fragment).number(Fields.ENTRIES, entries).number(Fields.BYTES, bytes);
        if (beganNs != 0) {
            event.number(Fields.DURATION_US, (System.nanoTime() - beganNs) / 1000);
        }
        if (replay) {
            event.with(REPLAY);
        }
        queue.put(fault == null ? event : event.with(Json.field("error", Faults.name(fault))));
    }
}
