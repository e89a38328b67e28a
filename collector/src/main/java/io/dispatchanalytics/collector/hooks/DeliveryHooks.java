package io.dispatchanalytics.collector.hooks;

import io.dispatchanalytics.collector.Collector;
import io.dispatchanalytics.collector.TestFaults;
import java.util.Collection;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.implementation.bytecode.assign.Assigner;
import org.apache.pulsar.broker.service.Consumer;
import org.apache.pulsar.broker.service.persistent.AbstractPersistentDispatcherMultipleConsumers;

/** What holds deliveries back. */
public final class DeliveryHooks {
    private static final long UNKNOWN = -1;

    private DeliveryHooks() { }

    /** A consumer grants permits. */
    public static final class Flow {
        private Flow() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static void enter(@Advice.This Object consumer, @Advice.Argument(0) int permits) {
            flow(consumer, permits);
        }
    }

    /** The count of unacknowledged messages of a consumer changed. */
    public static final class ConsumerUnacked {
        private ConsumerUnacked() { }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class)
        public static void exit(@Advice.This Object consumer) {
            consumerUnacked(consumer);
        }
    }

    /** That of the consumer that owns what another one acknowledged. */
    public static final class OwnerUnacked {
        private OwnerUnacked() { }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class)
        public static void exit(@Advice.Argument(0) Object owner) {
            consumerUnacked(owner);
        }
    }

    /** The count of unacknowledged messages of a dispatcher changed. */
    public static final class DispatcherUnacked {
        private DispatcherUnacked() { }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class)
        public static void exit(@Advice.This Object dispatcher) {
            dispatcherUnacked(dispatcher, "subscription");
        }
    }

    /** The broker stops a dispatcher, or starts it again. */
    public static final class BrokerUnacked {
        private BrokerUnacked() { }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class)
        public static void exit(@Advice.This Object dispatcher) {
            dispatcherUnacked(dispatcher, "broker");
        }
    }

    /** An entry may be for later. */
    public static final class Delayed {
        private Delayed() { }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class)
        public static void exit(@Advice.This Object dispatcher, @Advice.Return boolean held) {
            delayed(dispatcher, held);
        }
    }

    /** A client asks for entries again, or its transaction is aborted. */
    public static final class Redeliver {
        private Redeliver() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static void enter(@Advice.This Object dispatcher, @Advice.Argument(0) Object consumer,
                @Advice.Argument(value = 1, typing = Assigner.Typing.DYNAMIC) Object which) {
            redelivered(dispatcher, consumer, which);
        }
    }

    /** A consumer leaves, with entries that others will get. */
    public static final class ConsumerLeaves {
        private ConsumerLeaves() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static void enter(@Advice.Argument(0) Object consumer) {
            consumerLeaves(consumer);
        }
    }

    /** Called by what is woven. */
    public static void flow(Object consumer, int permits) {
        TestFaults.at("flow");
        Collector.recorder().deliveries.flow((Consumer) consumer, permits);
    }

    /** Called by what is woven. */
    public static void consumerUnacked(Object consumer) {
        Collector.recorder().deliveries.consumerBlocked((Consumer) consumer);
    }

    /** Called by what is woven. */
    public static void dispatcherUnacked(Object dispatcher, String cap) {
        Collector.recorder().deliveries.dispatcherBlocked((AbstractPersistentDispatcherMultipleConsumers) dispatcher, cap);
    }

    /** Called by what is woven. */
    public static void delayed(Object dispatcher, boolean held) {
        if (held) {
            Collector.recorder().deliveries.holds((AbstractPersistentDispatcherMultipleConsumers) dispatcher);
        }
    }

    /** Called by what is woven. `which` is a list of positions, or an epoch: all. */
    public static void redelivered(Object dispatcher, Object consumer, Object which) {
        TestFaults.at("redeliver");
        if (consumer == null) {
            ofNobody(dispatcher, which);
            return;
        }
        long entries = which instanceof Collection<?> positions ? positions.size() : pending(consumer);
        Collector.recorder().deliveries.redelivered((Consumer) consumer, entries, "requested");
    }

    /**
     * A transaction is aborted. For Shared and Key_Shared the broker passes positions, and no consumer. For Exclusive and Failover it
     * passes the active consumer; none where that has left: then Pulsar 4.0 fails, and nothing comes again.
     */
    private static void ofNobody(Object dispatcher, Object which) {
        if (dispatcher instanceof AbstractPersistentDispatcherMultipleConsumers shared && which instanceof Collection<?> positions) {
            Collector.recorder().deliveries.givenBack(shared, positions.size());
        }
    }

    /** Called by what is woven. */
    public static void consumerLeaves(Object consumer) {
        long entries = pending(consumer);
        if (entries > 0) {
            Collector.recorder().deliveries.redelivered((Consumer) consumer, entries, "consumer_closed");
        }
    }

    /** Entries that wait for this consumer's acknowledgement. The broker counts them of shared subscriptions only. */
    private static long pending(Object consumer) {
        var pending = ((Consumer) consumer).getPendingAcks();
        return pending == null ? UNKNOWN : pending.size();
    }
}
