package io.dispatchanalytics.collector.hooks;

import io.dispatchanalytics.collector.Collector;
import io.dispatchanalytics.collector.TestFaults;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import net.bytebuddy.asm.Advice;
import org.apache.bookkeeper.mledger.Entry;
import org.apache.bookkeeper.mledger.ManagedCursor;
import org.apache.bookkeeper.mledger.impl.ManagedCursorImpl;
import org.apache.pulsar.broker.service.Subscription;

/** Reads of storage. */
public final class StorageHooks {
    private static final String REPLAY = "Replay";

    private StorageHooks() { }

    /** Ledgers are asked for entries that are there. */
    public static final class Asked {
        private Asked() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static void enter(@Advice.Argument(0) Object operation) {
            asked(operation);
        }
    }

    /** A dispatcher gets entries. */
    public static final class Gave {
        private Gave() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static void enter(@Advice.FieldValue("subscription") Object subscription, @Advice.Argument(0) Object entries,
                @Advice.Argument(1) Object context) {
            gave(subscription, entries, context);
        }
    }

    /** A read failed. */
    public static final class Failed {
        private Failed() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static void enter(@Advice.FieldValue("subscription") Object subscription, @Advice.Argument(0) Object fault,
                @Advice.Argument(1) Object context) {
            failed(subscription, fault, context);
        }
    }

    /** Called by what is woven. */
    public static void asked(Object operation) {
        Collector.recorder().storage.asked((ManagedCursor) Operation.CURSOR.get(operation));
    }

    /** Called by what is woven. The context is what kind of read it was, or the consumer. */
    @SuppressWarnings("unchecked")
    public static void gave(Object subscription, Object entries, Object context) {
        TestFaults.at("read_done");
        Collector.recorder().storage.gave((Subscription) subscription, (List<Entry>) entries, isReplay(context));
    }

    /** Called by what is woven. */
    public static void failed(Object subscription, Object fault, Object context) {
        Collector.recorder().storage.failed((Subscription) subscription, (Throwable) fault, isReplay(context));
    }

    private static boolean isReplay(Object context) {
        return context instanceof Enum<?> kind && kind.name().equals(REPLAY);
    }

    /** A read under way: a class that only its own package sees. */
    private static final class Operation {
        static final VarHandle CURSOR = cursor();

        private static VarHandle cursor() {
            try {
                Class<?> operation = Class.forName(ManagedCursorImpl.class.getPackageName() + ".OpReadEntry", false,
                        ManagedCursorImpl.class.getClassLoader());
                return MethodHandles.privateLookupIn(operation, MethodHandles.lookup())
                        .findVarHandle(operation, "cursor", ManagedCursorImpl.class);
            } catch (ReflectiveOperationException other) {
                throw new IllegalStateException("this broker's reads have no cursor", other);
            }
        }
    }
}
