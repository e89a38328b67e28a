package io.dispatchanalytics.collector.broker;

import io.dispatchanalytics.collector.log.Event;
import io.dispatchanalytics.collector.log.EventQueue;
import java.nio.charset.StandardCharsets;
import org.apache.bookkeeper.mledger.ManagedCursor;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.impl.ManagedCursorImpl;

/** Moves of mark-delete positions, each in memory and where the broker orders its cursors. */
public final class CursorMoves {
    private static final byte[] RESET = ",\"reset\":true".getBytes(StandardCharsets.US_ASCII);

    private final EventQueue queue;
    private final Topics topics;

    CursorMoves(EventQueue queue, Topics topics) {
        this.queue = queue;
        this.topics = topics;
    }

    /** The position in memory moved. */
    public void moved(ManagedCursorImpl cursor, Position to, boolean reset) {
        Sub sub = subOf(cursor);
        if (sub != null) {
            synchronized (sub) {
                write(queue, sub, to, false, reset);
            }
        }
    }

    /** The position that orders the cursor was set, maybe to what it was: every individual ack does that. */
    public void persisted(ManagedCursorImpl cursor, Position to) {
        // Readers are not ordered.
        Sub sub = cursor.isDurable() ? subOf(cursor) : null;
        if (sub == null) {
            return;
        }
        synchronized (sub) {
            int compared = sub.comparedToPersisted(to.getLedgerId(), to.getEntryId());
            if (compared != 0) {
                sub.setPersisted(to.getLedgerId(), to.getEntryId());
                write(queue, sub, to, true, compared < 0);
            }
        }
    }

    private Sub subOf(ManagedCursor cursor) {
        LoadedTopic topic = topics.of(cursor.getManagedLedger());
        return topic == null ? null : topic.sub(TopicLife.subOf(cursor));
    }

    static void write(EventQueue queue, Sub sub, Position to, boolean persisted, boolean reset) {
        Event event = Event.of(Fields.MARK_DELETE).with(sub.fragment).number(Fields.LEDGER, to.getLedgerId())
                .number(Fields.ENTRY, to.getEntryId()).flag(Fields.PERSISTED, persisted);
        queue.put(reset ? event.with(RESET) : event);
    }
}
