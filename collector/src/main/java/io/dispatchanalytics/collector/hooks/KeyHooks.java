package io.dispatchanalytics.collector.hooks;

import io.dispatchanalytics.collector.Collector;
import io.dispatchanalytics.collector.TestFaults;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import net.bytebuddy.asm.Advice;
import org.apache.pulsar.broker.service.persistent.MessageRedeliveryController;
import org.apache.pulsar.broker.service.persistent.PersistentStickyKeyDispatcherMultipleConsumers;

/** Key_Shared dispatchers: which entries go to nobody now, and why. All of these run under the dispatcher's lock. */
public final class KeyHooks {
    private static final String NORMAL = "Normal";

    private KeyHooks() { }

    /** Entries are sorted by consumer. */
    public static final class Sort {
        private Sort() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static void enter() {
            begins();
        }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        public static void exit() {
            ends();
        }
    }

    /** May an entry go to the consumer of its key? */
    public static final class MayGo {
        private MayGo() { }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class)
        public static void exit(@Advice.FieldValue("redeliveryMessages") Object replay, @Advice.Argument(2) Object kind,
                @Advice.Argument(3) int hash, @Advice.Return boolean may) {
            if (!may) {
                refused(replay, kind, hash);
            }
        }
    }

    /** An entry goes into the replay queue. */
    public static final class PutAside {
        private PutAside() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static void enter(@Advice.This Object dispatcher, @Advice.Argument(2) long hash) {
            putAside(dispatcher, hash);
        }
    }

    /** No read is made. */
    public static final class ReadsNothing {
        private ReadsNothing() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static void enter(@Advice.This Object dispatcher) {
            readsNothing(dispatcher);
        }
    }

    /** Called by what is woven. */
    public static void begins() {
        TestFaults.at("keys_blocked");
        Collector.recorder().blockedKeys.begin();
    }

    /** Called by what is woven. */
    public static void ends() {
        Collector.recorder().blockedKeys.end();
    }

    /** Called by what is woven. */
    public static void refused(Object replay, Object kind, int hash) {
        boolean inReplay = kind.toString().equals(NORMAL) && ((MessageRedeliveryController) replay).containsStickyKeyHash(hash);
        Collector.recorder().blockedKeys.refused(inReplay);
    }

    /** Called by what is woven. */
    public static void putAside(Object dispatcher, long hash) {
        if (dispatcher instanceof PersistentStickyKeyDispatcherMultipleConsumers ofKeys) {
            Collector.recorder().blockedKeys.putAside(ofKeys, hash);
        }
    }

    /** Called by what is woven. */
    public static void readsNothing(Object dispatcher) {
        PersistentStickyKeyDispatcherMultipleConsumers ofKeys = (PersistentStickyKeyDispatcherMultipleConsumers) dispatcher;
        Collector.recorder().blockedKeys.readsNothing(ofKeys, Limit.isReached(ofKeys));
    }

    /** The look-ahead limit: only the dispatcher itself sees it. */
    private static final class Limit {
        private static final MethodHandle IS_BELOW = isBelow();

        static boolean isReached(PersistentStickyKeyDispatcherMultipleConsumers dispatcher) {
            try {
                return !(boolean) IS_BELOW.invokeExact(dispatcher);
            } catch (Throwable fault) {
                throw new IllegalStateException(fault);
            }
        }

        private static MethodHandle isBelow() {
            try {
                Class<?> dispatcher = PersistentStickyKeyDispatcherMultipleConsumers.class;
                return MethodHandles.privateLookupIn(dispatcher, MethodHandles.lookup())
                        .findVirtual(dispatcher, "isReplayQueueSizeBelowLimit", MethodType.methodType(boolean.class));
            } catch (ReflectiveOperationException other) {
                throw new IllegalStateException("this broker's Key_Shared dispatcher has no look-ahead limit", other);
            }
        }
    }
}
