package io.dispatchanalytics.collector.broker;

import io.dispatchanalytics.collector.log.Event;
import io.dispatchanalytics.collector.log.EventQueue;
import io.dispatchanalytics.collector.log.Fragments;
import java.nio.charset.StandardCharsets;
import org.apache.bookkeeper.mledger.ManagedCursor;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.impl.ManagedCursorImpl;

/** Moves of mark-delete positions, each in memory and where the broker orders its cursors. */
public final class CursorMoves {
    private static final byte[] RESET = ",\"reset\":true".getBytes(StandardCharsets.US_ASCII);

    private static final Fragments MOVERS = new Fragments("moved_by");

    private final EventQueue queue;
    private final Topics topics;
    /** What moves cursors on this thread now; null: acknowledgements, or it is not known. */
    private final ThreadLocal<String> mover = new ThreadLocal<>();

    CursorMoves(EventQueue queue, Topics topics) {
        this.queue = queue;
        this.topics = topics;
    }

    /** From now on this moves cursors on this thread. Returns what did before: to be given back. The outermost counts. */
    public String movedBy(String what) {
        String before = mover.get();
        if (before == null) {
            mover.set(what);
        }
        return before;
    }

    /** As it was before. */
    public void movedAsBefore(String before) {
        if (before == null) {
            mover.remove();
        }
    }

    /** The position in memory moved. */
    public void moved(ManagedCursorImpl cursor, Position to, boolean reset) {
        Sub sub = subOf(cursor);
        if (sub != null) {
            synchronized (sub) {
                write(queue, sub, to, false, reset, mover.get());
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
                write(queue, sub, to, true, compared < 0, null);
            }
        }
    }

    private Sub subOf(ManagedCursor cursor) {
        LoadedTopic topic = topics.of(cursor.getManagedLedger());
        return topic == null ? null : topic.sub(TopicLife.subOf(cursor));
    }

    static void write(EventQueue queue, Sub sub, Position to, boolean persisted, boolean reset, String by) {
        Event event = Event.of(Fields.MARK_DELETE).with(sub.fragment).number(Fields.LEDGER, to.getLedgerId())
                .number(Fields.ENTRY, to.getEntryId()).flag(Fields.PERSISTED, persisted);
        if (by != null) {
            event.with(MOVERS.of(by));
        }
        queue.put(reset ? event.with(RESET) : event);
    }
}
