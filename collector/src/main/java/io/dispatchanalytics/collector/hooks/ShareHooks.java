package io.dispatchanalytics.collector.hooks;

import io.dispatchanalytics.collector.Collector;
import io.dispatchanalytics.collector.TestFaults;
import java.util.List;
import net.bytebuddy.asm.Advice;
import org.apache.bookkeeper.mledger.Entry;
import org.apache.pulsar.broker.service.Consumer;
import org.apache.pulsar.broker.service.RedeliveryTracker;

/** Who is sent what. */
public final class ShareHooks {
    private ShareHooks() { }

    /** A consumer is sent entries. Before they are recycled. */
    public static final class Send {
        private Send() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static void enter(@Advice.This Object consumer, @Advice.Argument(0) Object entries, @Advice.Argument(4) int msgs,
                @Advice.Argument(5) long bytes, @Advice.Argument(7) Object tracker) {
            sent(consumer, entries, msgs, bytes, tracker);
        }
    }

    /** The connection of an active consumer has taken them. */
    public static final class Arrived {
        private Arrived() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static void enter(@Advice.Argument(0) Object entries) {
            arrived(entries);
        }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        public static void exit() {
            charged();
        }
    }

    /** Called by what is woven. */
    @SuppressWarnings("unchecked")
    public static void sent(Object consumer, Object entries, int msgs, long bytes, Object tracker) {
        TestFaults.at("dispatch_share");
        Collector.recorder().shares.sending((Consumer) consumer, (List<? extends Entry>) entries, msgs, bytes, (RedeliveryTracker) tracker);
    }

    /** Called by what is woven. */
    public static void arrived(Object entries) {
        Collector.recorder().shares.arrived(entries);
    }

    /** Called by what is woven. */
    public static void charged() {
        Collector.recorder().shares.charged();
    }
}
