package io.dispatchanalytics.collector.broker;

import java.lang.ref.WeakReference;

/**
 * What the collector knows of one subscription of a loaded topic: how the log names it, and what was written last.
 *
 * Its lock keeps the order of the cursor's events: what was read of the broker is written before anything newer is.
 */
public final class Sub {
    private static final WeakReference<Object> NONE = new WeakReference<>(null);

    /** `,"topic":…,"sub":…` */
    public final byte[] fragment;
    private WeakReference<Object> dispatcher = NONE;
    private boolean cursorIsClosed;
    private boolean persistedKnown;
    private long persistedLedger;
    private long persistedEntry;
    private volatile long readBeganNs;
    /** What was written of it last as its state; only the thread of states sees it. */
    long[] state;

    Sub(byte[] fragment) {
        this.fragment = fragment;
    }

    /** Makes this dispatcher the current one. Returns whether another was open, which must be reported as closed first. */
    synchronized boolean replaceDispatcher(Object opened) {
        boolean replaced = dispatcher.get() != null;
        dispatcher = new WeakReference<>(opened);
        return replaced;
    }

    /** Forgets this dispatcher. Returns false if it is not the current one: it was replaced, or closed before. */
    synchronized boolean closeDispatcher(Object closed) {
        boolean current = dispatcher.get() == closed;
        if (current) {
            dispatcher = NONE;
        }
        return current;
    }

    /** Whether nothing of it is open any more, now that its cursor is closed. */
    synchronized boolean endsWithCursor() {
        cursorIsClosed = true;
        return dispatcher.get() == null;
    }

    /** Whether nothing of it is open any more, now that its dispatcher is closed. */
    synchronized boolean endsWithDispatcher() {
        return cursorIsClosed;
    }

    /** Storage is asked at this time. Asked again for the rest of the same read it is the first time that counts. */
    void readBegins(long nowNs) {
        if (readBeganNs == 0) {
            readBeganNs = nowNs;
        }
    }

    /** The read has ended. Returns when it began; 0: not known. */
    long readEnds() {
        long began = readBeganNs;
        readBeganNs = 0;
        return began;
    }

    /** Takes the position by which the broker orders its cursors. */
    void setPersisted(long ledger, long entry) {
        cursorIsClosed = false;
        persistedKnown = true;
        persistedLedger = ledger;
        persistedEntry = entry;
    }

    /** Below zero: back; 0: unchanged; above: forward, or not known before. */
    int comparedToPersisted(long ledger, long entry) {
        if (!persistedKnown) {
            return 1;
        }
        int byLedger = Long.compare(ledger, persistedLedger);
        return byLedger != 0 ? byLedger : Long.compare(entry, persistedEntry);
    }
}
