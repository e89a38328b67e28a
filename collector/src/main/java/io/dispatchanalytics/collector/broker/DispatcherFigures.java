package io.dispatchanalytics.collector.broker;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.apache.pulsar.broker.service.AbstractDispatcherSingleActiveConsumer;
import org.apache.pulsar.broker.service.Consumer;
import org.apache.pulsar.broker.service.Dispatcher;
import org.apache.pulsar.broker.service.persistent.AbstractPersistentDispatcherMultipleConsumers;
import org.apache.pulsar.broker.service.persistent.PersistentDispatcherMultipleConsumers;
import org.apache.pulsar.broker.service.persistent.PersistentDispatcherMultipleConsumersClassic;
import org.apache.pulsar.broker.service.persistent.PersistentDispatcherSingleActiveConsumer;

/** What a dispatcher holds that it shows to nobody. */
public final class DispatcherFigures {
    /** Fields, for `collector points`. */
    public static final String PERMITS = "totalAvailablePermits";
    public static final String READ_OUT = "havePendingRead";

    private DispatcherFigures() { }

    /** The sum over its consumers, as the dispatcher keeps it; of an active consumer its own. */
    static long permits(Dispatcher dispatcher) {
        // First: a broker may lack the classes that come last.
        if (dispatcher instanceof AbstractDispatcherSingleActiveConsumer) {
            Consumer active = active(dispatcher);
            return active == null ? Reading.ABSENT : active.getAvailablePermits();
        }
        if (dispatcher instanceof PersistentDispatcherMultipleConsumers many) {
            return (int) Many.FIELD.getVolatile(many);
        }
        return dispatcher instanceof PersistentDispatcherMultipleConsumersClassic many ? (int) Classic.FIELD.getVolatile(many) : Reading.ABSENT;
    }

    /** Of Exclusive and Failover; null: there is none. */
    static Consumer active(Dispatcher dispatcher) {
        return dispatcher instanceof AbstractDispatcherSingleActiveConsumer one ? one.getActiveConsumer() : null;
    }

    static long isReadOut(Dispatcher dispatcher) {
        if (dispatcher instanceof AbstractPersistentDispatcherMultipleConsumers many) {
            return many.isHavePendingRead() ? 1 : 0;
        }
        return dispatcher instanceof PersistentDispatcherSingleActiveConsumer one ? (boolean) One.FIELD.getVolatile(one) ? 1 : 0 : Reading.ABSENT;
    }

    /** The broker counts them for one consumer after the other where one is active. */
    static long unacked(Dispatcher dispatcher) {
        if (dispatcher instanceof AbstractPersistentDispatcherMultipleConsumers many) {
            return many.getTotalUnackedMessages();
        }
        long sum = 0;
        for (Consumer consumer : dispatcher.getConsumers()) {
            sum += consumer.getUnackedMessages();
        }
        return sum;
    }

    private static VarHandle field(Class<?> of, String name, Class<?> type) {
        try {
            return MethodHandles.privateLookupIn(of, MethodHandles.lookup()).findVarHandle(of, name, type);
        } catch (ReflectiveOperationException other) {
            throw new IllegalStateException("this broker's " + of.getSimpleName() + " has no field " + name, other);
        }
    }

    /** Each is looked up when it is met first. */
    private static final class Many {
        static final VarHandle FIELD = field(PersistentDispatcherMultipleConsumers.class, PERMITS, int.class);
    }

    private static final class Classic {
        static final VarHandle FIELD = field(PersistentDispatcherMultipleConsumersClassic.class, PERMITS, int.class);
    }

    private static final class One {
        static final VarHandle FIELD = field(PersistentDispatcherSingleActiveConsumer.class, READ_OUT, boolean.class);
    }
}
