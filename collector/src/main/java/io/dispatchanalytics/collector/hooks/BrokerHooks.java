package io.dispatchanalytics.collector.hooks;

import io.dispatchanalytics.collector.Collector;
import io.dispatchanalytics.collector.TestFaults;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import net.bytebuddy.asm.Advice;
import org.apache.pulsar.broker.PulsarService;
import org.apache.pulsar.broker.service.BrokerService;

/** Start and end of the broker. */
public final class BrokerHooks {
    private static final AtomicBoolean MET = new AtomicBoolean();

    private BrokerHooks() { }

    /** The constructor of BrokerService has ended. */
    public static final class Start {
        private Start() { }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class)
        public static void exit(@Advice.Argument(0) Object pulsar) {
            started(pulsar);
        }
    }

    /** The broker is told to close. */
    public static final class Stop {
        private Stop() { }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class)
        public static void exit(@Advice.Return Object closed) {
            stopping(closed);
        }
    }

    /** Something that a running broker does again and again: the way to it for a collector that came later. */
    public static final class Running {
        private Running() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static void enter(@Advice.This Object broker) {
            running(broker);
        }
    }

    /** The same, as soon as a client sends something. */
    public static final class Request {
        private Request() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static void enter(@Advice.FieldValue("service") Object broker) {
            running(broker);
        }
    }

    /** Called by what is woven. */
    public static void started(Object pulsar) {
        TestFaults.at("broker_start");
        // A collector that comes later must not take this broker for one that was there before.
        MET.set(true);
        Collector.recorder().brokerLife.begin((PulsarService) pulsar);
    }

    /** Called by what is woven. */
    public static void stopping(Object closed) {
        Collector.recorder().brokerLife.ending();
        ((CompletableFuture<?>) closed).whenComplete((nothing, fault) -> Collector.recorder().brokerLife.end());
    }

    /** Called by what is woven. */
    public static void running(Object broker) {
        if (!MET.get() && MET.compareAndSet(false, true)) {
            // Thousands of topics may be loaded: not on the broker's thread.
            Thread snapshots = new Thread(() -> Collector.guarded("attach", () -> Collector.recorder().brokerLife.meet((BrokerService) broker)),
                    "dispatch-collector-attach");
            snapshots.setDaemon(true);
            snapshots.start();
        }
    }
}
