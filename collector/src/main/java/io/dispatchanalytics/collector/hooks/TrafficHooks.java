package io.dispatchanalytics.collector.hooks;

import io.dispatchanalytics.collector.Collector;
import io.dispatchanalytics.collector.TestFaults;
import io.dispatchanalytics.collector.broker.Traffic;
import io.netty.buffer.ByteBuf;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.Queue;
import java.util.stream.Stream;
import net.bytebuddy.asm.Advice;
import org.apache.bookkeeper.client.LedgerHandle;
import org.apache.bookkeeper.mledger.ManagedLedger;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerImpl;
import org.apache.pulsar.common.api.proto.CommandAck.AckType;

/** Entries persisted and acknowledged. */
public final class TrafficHooks {
    /** In place of what moved cursors before, where a consumer does: nothing is to be given back. */
    private static final String NOTHING = "";

    private TrafficHooks() { }

    /** An entry is persisted. */
    public static final class Publish {
        private Publish() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static void enter(@Advice.This Object operation, @Advice.FieldValue("ml") Object managedLedger,
                @Advice.FieldValue("ledger") Object ledger, @Advice.FieldValue("entryId") long entry,
                @Advice.FieldValue("dataLength") int length, @Advice.FieldValue("data") Object data, @Advice.FieldValue("ctx") Object context) {
            published(operation, managedLedger, ledger, entry, length, data, context);
        }
    }

    /** A consumer's acknowledgement is handled. */
    public static final class Acking {
        private Acking() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static void enter(@Advice.FieldValue("consumerId") long consumer) {
            acking(consumer);
        }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        public static void exit() {
            ackingEnded();
        }
    }

    /** Positions are acknowledged. */
    public static final class Ack {
        private Ack() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static String enter(@Advice.FieldValue("topicName") String topic, @Advice.FieldValue("subName") String sub,
                @Advice.Argument(0) Object positions, @Advice.Argument(1) Object type) {
            return acked(topic, sub, positions, type);
        }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        public static void exit(@Advice.Enter String before) {
            MoverHooks.ends(before);
        }
    }

    /** Called by what is woven. */
    public static void published(Object operation, Object managedLedger, Object ledger, long entry, int length, Object data, Object context) {
        TestFaults.at("publish");
        // An operation that is not the first that waits fails in the method that follows.
        if (managedLedger != null && Pending.of(managedLedger).peek() == operation) {
            long id = ledger != null ? ((LedgerHandle) ledger).getId() : ((Position) context).getLedgerId();
            Collector.recorder().traffic.published((ManagedLedger) managedLedger, id, entry, length, (ByteBuf) data);
        }
    }

    /** Called by what is woven. */
    public static void acking(long consumer) {
        Collector.recorder().traffic.ackingFor(consumer);
    }

    /** Called by what is woven. */
    public static void ackingEnded() {
        Collector.recorder().traffic.ackingEnded();
    }

    /** Called by what is woven. */
    @SuppressWarnings("unchecked")
    public static String acked(String topic, String sub, Object positions, Object type) {
        TestFaults.at("ack");
        Traffic traffic = Collector.recorder().traffic;
        traffic.acked(topic, sub, (List<Position>) positions, type == AckType.Cumulative);
        return traffic.isBrokersOwn() ? MoverHooks.begins("broker") : NOTHING;
    }

    /** The entries of a managed ledger that wait to be persisted: a field that only its own package sees. */
    private static final class Pending {
        private static final VarHandle ENTRIES = entries();

        private static VarHandle entries() {
            try {
                MethodHandles.Lookup lookup = MethodHandles.privateLookupIn(ManagedLedgerImpl.class, MethodHandles.lookup());
                Class<?> type = Stream.of(ManagedLedgerImpl.class.getDeclaredFields())
                        .filter(field -> field.getName().equals("pendingAddEntries")).findFirst().orElseThrow().getType();
                return lookup.findVarHandle(ManagedLedgerImpl.class, "pendingAddEntries", type);
            } catch (ReflectiveOperationException other) {
                throw new IllegalStateException("this broker's managed ledgers have no queue of pending entries", other);
            }
        }

        static Queue<?> of(Object managedLedger) {
            return (Queue<?>) ENTRIES.get((ManagedLedgerImpl) managedLedger);
        }
    }
}
