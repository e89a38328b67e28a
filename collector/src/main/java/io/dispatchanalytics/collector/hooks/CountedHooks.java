package io.dispatchanalytics.collector.hooks;

import io.dispatchanalytics.collector.Collector;
import net.bytebuddy.asm.Advice;
import org.apache.pulsar.broker.service.persistent.PersistentSubscription;
import org.apache.pulsar.broker.service.persistent.PersistentTopic;

/** Compactions and transactions: counted, no more. */
public final class CountedHooks {
    /** As the protocol has it. */
    private static final int COMMIT = 0;

    private CountedHooks() { }

    /** A compaction began; where one runs already the method throws. */
    public static final class CompactionStart {
        private CompactionStart() { }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class)
        public static void exit(@Advice.This Object topic) {
            compactionStarted(topic);
        }
    }

    /** It ended. */
    public static final class CompactionEnd {
        private CompactionEnd() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static void enter(@Advice.This Object topic, @Advice.Argument(1) Throwable fault) {
            compactionEnded(topic, fault);
        }
    }

    /** A message of a transaction comes. */
    public static final class Published {
        private Published() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static void enter(@Advice.This Object topic) {
            inTransaction(topic, "publish");
        }
    }

    /** A transaction ends in a topic. */
    public static final class Ended {
        private Ended() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static void enter(@Advice.This Object topic, @Advice.Argument(1) int action) {
            ended(topic, action);
        }
    }

    /** Positions are acknowledged in a transaction. */
    public static final class Acked {
        private Acked() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static void enter(@Advice.This Object subscription) {
            acked(subscription);
        }
    }

    /** Called by what is woven. */
    public static void compactionStarted(Object topic) {
        Collector.recorder().counted.compactionStarted(((PersistentTopic) topic).getName());
    }

    /** Called by what is woven. */
    public static void compactionEnded(Object topic, Throwable fault) {
        Collector.recorder().counted.compactionEnded(((PersistentTopic) topic).getName(), fault);
    }

    /** Called by what is woven. */
    public static void inTransaction(Object topic, String action) {
        Collector.recorder().counted.inTransaction(((PersistentTopic) topic).getName(), action);
    }

    /** Called by what is woven. */
    public static void ended(Object topic, int action) {
        inTransaction(topic, action == COMMIT ? "commit" : "abort");
    }

    /** Called by what is woven. */
    public static void acked(Object subscription) {
        PersistentSubscription of = (PersistentSubscription) subscription;
        Collector.recorder().counted.ackInTransaction(of.getTopicName(), of.getName());
    }
}
