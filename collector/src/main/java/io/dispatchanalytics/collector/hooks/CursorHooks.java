package io.dispatchanalytics.collector.hooks;

import io.dispatchanalytics.collector.Collector;
import io.dispatchanalytics.collector.TestFaults;
import net.bytebuddy.asm.Advice;
import org.apache.bookkeeper.mledger.ManagedCursor;
import org.apache.bookkeeper.mledger.ManagedLedger;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.impl.ManagedCursorContainer;
import org.apache.bookkeeper.mledger.impl.ManagedCursorImpl;

/** Cursors: added, removed, moved. */
public final class CursorHooks {
    private CursorHooks() { }

    /** A cursor was added to a managed ledger. */
    public static final class Open {
        private Open() { }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class)
        public static void exit(@Advice.This Object managedLedger, @Advice.Argument(0) Object cursor) {
            opened(managedLedger, cursor);
        }
    }

    /** A cursor is deleted. */
    public static final class Close {
        private Close() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static void enter(@Advice.This Object managedLedger, @Advice.Argument(0) String cursor) {
            closed(managedLedger, cursor);
        }
    }

    /** Acknowledgements and skips moved the position in memory, or did not. */
    public static final class Move {
        private Move() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static Object enter(@Advice.FieldValue("markDeletePosition") Object before) {
            return before;
        }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class)
        public static void exit(@Advice.Enter Object before, @Advice.This Object cursor, @Advice.Return Object after) {
            moved(cursor, before, after);
        }
    }

    /** The position that orders the cursor among the slowest is set. */
    public static final class Persist {
        private Persist() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static void enter(@Advice.Argument(0) Object cursor, @Advice.Argument(1) Object position) {
            persisted(cursor, position);
        }
    }

    /** A seek moves the position in memory. What else it does, deliveries among it, follows inside of the method. */
    public static final class Seek {
        private Seek() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static void enter(@Advice.FieldValue("this$0") Object cursor, @Advice.FieldValue("val$newMarkDeletePosition") Object position) {
            sought(cursor, position);
        }
    }

    /** Called by what is woven. */
    public static void opened(Object managedLedger, Object cursor) {
        TestFaults.at("cursor_open");
        Collector.recorder().topicLife.cursorOpened((ManagedLedger) managedLedger, (ManagedCursor) cursor);
    }

    /** Called by what is woven. */
    public static void closed(Object managedLedger, String name) {
        TestFaults.at("cursor_close");
        ManagedLedger ledger = (ManagedLedger) managedLedger;
        ManagedCursor cursor = ((ManagedCursorContainer) ledger.getCursors()).get(name);
        if (cursor != null) {
            Collector.recorder().topicLife.cursorClosed(ledger, cursor);
        }
    }

    /** Called by what is woven. */
    public static void moved(Object cursor, Object before, Object after) {
        TestFaults.at("mark_delete");
        if (!after.equals(before)) {
            Collector.recorder().cursorMoves.moved((ManagedCursorImpl) cursor, (Position) after, false);
        }
    }

    /** Called by what is woven. */
    public static void persisted(Object cursor, Object position) {
        TestFaults.at("mark_delete_persisted");
        Collector.recorder().cursorMoves.persisted((ManagedCursorImpl) cursor, (Position) position);
    }

    /** Called by what is woven. */
    public static void sought(Object cursor, Object position) {
        TestFaults.at("mark_delete_reset");
        Collector.recorder().cursorMoves.moved((ManagedCursorImpl) cursor, (Position) position, true);
    }
}
