package io.dispatchanalytics.collector.broker;

import io.dispatchanalytics.collector.log.Event;
import io.dispatchanalytics.collector.log.EventQueue;
import io.dispatchanalytics.collector.log.Json;
import java.util.List;
import org.apache.bookkeeper.mledger.Entry;
import org.apache.bookkeeper.mledger.ManagedCursor;

/** Replicators: whether they are connected, and what they read. */
public final class Replications {
    private final EventQueue queue;
    private final Topics topics;

    Replications(EventQueue queue, Topics topics) {
        this.queue = queue;
        this.topics = topics;
    }

    /** Its producer is there, or gone. */
    public void connected(ManagedCursor cursor, boolean connected, Throwable fault) {
        Sub sub = topics.sub(cursor);
        if (sub != null) {
            Event event = Event.of(Fields.REPLICATOR_CONNECTION).with(sub.fragment).flag(Fields.CONNECTED, connected);
            queue.put(fault == null ? event : event.with(Json.field("error", Faults.name(fault))));
        }
    }

    /** It got entries. */
    public void gave(ManagedCursor cursor, List<Entry> entries) {
        Sub sub = topics.sub(cursor);
        if (sub != null) {
            long bytes = 0;
            for (int at = 0; at < entries.size(); at++) {
                bytes += entries.get(at).getLength();
            }
            queue.put(read(sub, entries.size(), bytes));
        }
    }

    /** It did not. */
    public void failed(ManagedCursor cursor, Throwable fault) {
        Sub sub = topics.sub(cursor);
        if (sub != null) {
            queue.put(read(sub, 0, 0).with(Json.field("error", Faults.name(fault))));
        }
    }

    private static Event read(Sub sub, long entries, long bytes) {
        return Event.of(Fields.REPLICATOR_READ).with(sub.fragment).number(Fields.ENTRIES, entries).number(Fields.BYTES, bytes);
    }
}
