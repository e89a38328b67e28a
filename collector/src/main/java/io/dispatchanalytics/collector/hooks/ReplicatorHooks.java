package io.dispatchanalytics.collector.hooks;

import io.dispatchanalytics.collector.Collector;
import io.dispatchanalytics.collector.TestFaults;
import java.util.List;
import net.bytebuddy.asm.Advice;
import org.apache.bookkeeper.mledger.Entry;
import org.apache.bookkeeper.mledger.ManagedCursor;
import org.apache.pulsar.broker.service.persistent.PersistentReplicator;

/** Replicators. */
public final class ReplicatorHooks {
    private ReplicatorHooks() { }

    /** The producer in the other cluster was set, or the replicator was ended meanwhile. */
    public static final class Connect {
        private Connect() { }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class)
        public static void exit(@Advice.This Object replicator, @Advice.FieldValue("cursor") Object cursor) {
            connected(replicator, cursor);
        }
    }

    /** The producer is closed. */
    public static final class Disconnect {
        private Disconnect() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static void enter(@Advice.FieldValue("cursor") Object cursor) {
            disconnected(cursor, null);
        }
    }

    /** It could not be made. */
    public static final class CannotConnect {
        private CannotConnect() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static void enter(@Advice.This Object replicator, @Advice.Argument(0) Throwable fault) {
            failed(replicator, fault);
        }
    }

    /** It got entries. */
    public static final class Gave {
        private Gave() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static void enter(@Advice.FieldValue("cursor") Object cursor, @Advice.Argument(0) Object entries) {
            gave(cursor, entries);
        }
    }

    /** A read failed. */
    public static final class Failed {
        private Failed() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static void enter(@Advice.FieldValue("cursor") Object cursor, @Advice.Argument(0) Throwable fault) {
            readFailed(cursor, fault);
        }
    }

    /** Called by what is woven. */
    public static void connected(Object replicator, Object cursor) {
        TestFaults.at("replicator_connection");
        if (((PersistentReplicator) replicator).isConnected()) {
            Collector.recorder().replications.connected((ManagedCursor) cursor, true, null);
        }
    }

    /** Called by what is woven. */
    public static void disconnected(Object cursor, Throwable fault) {
        Collector.recorder().replications.connected((ManagedCursor) cursor, false, fault);
    }

    /** Called by what is woven. */
    public static void failed(Object replicator, Throwable fault) {
        if (replicator instanceof PersistentReplicator persistent) {
            disconnected(persistent.getCursor(), fault);
        }
    }

    /** Called by what is woven. */
    @SuppressWarnings("unchecked")
    public static void gave(Object cursor, Object entries) {
        TestFaults.at("replicator_read");
        Collector.recorder().replications.gave((ManagedCursor) cursor, (List<Entry>) entries);
    }

    /** Called by what is woven. */
    public static void readFailed(Object cursor, Throwable fault) {
        Collector.recorder().replications.failed((ManagedCursor) cursor, fault);
    }
}
