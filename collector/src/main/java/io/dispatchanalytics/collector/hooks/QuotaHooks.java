package io.dispatchanalytics.collector.hooks;

import io.dispatchanalytics.collector.Collector;
import io.dispatchanalytics.collector.TestFaults;
import net.bytebuddy.asm.Advice;
import org.apache.pulsar.broker.service.persistent.PersistentTopic;
import org.apache.pulsar.common.policies.data.BacklogQuota.BacklogQuotaType;

/** Checks of backlog quotas and what follows from them. */
public final class QuotaHooks {
    private QuotaHooks() { }

    /** A round over all topics. */
    public static final class Round {
        private Round() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static long enter() {
            return roundBegins();
        }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        public static void exit(@Advice.Enter long beganNs) {
            roundEnded(beganNs);
        }
    }

    /** The check of one topic is complete. */
    public static final class Check {
        private Check() { }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class)
        public static void exit(@Advice.Argument(0) Object topic, @Advice.Argument(1) long roundMs) {
            checked(topic, roundMs);
        }
    }

    /** The oldest position of a topic is looked up. */
    public static final class LookUp {
        private LookUp() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static void enter(@Advice.This Object topic) {
            lookedUp(topic);
        }
    }

    /** The broker acts on a quota; what it does follows. */
    public static final class Exceeded {
        private Exceeded() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static void enter(@Advice.Argument(0) Object topic, @Advice.Argument(1) Object type) {
            exceeded(topic, type);
        }
    }

    /** Called by what is woven. */
    public static long roundBegins() {
        TestFaults.at("quota_round");
        return Collector.recorder().quotaRounds.begin();
    }

    /** Called by what is woven. 0: its beginning failed. */
    public static void roundEnded(long beganNs) {
        if (beganNs != 0) {
            Collector.recorder().quotaRounds.end(beganNs);
        }
    }

    /** Called by what is woven. */
    public static void checked(Object topic, long roundMs) {
        TestFaults.at("quota_check");
        Collector.recorder().quotaRounds.checked(((PersistentTopic) topic).getName(), roundMs);
    }

    /** Called by what is woven. */
    public static void lookedUp(Object topic) {
        TestFaults.at("quota_check_by_producer");
        Collector.recorder().quotaRounds.lookedUp(((PersistentTopic) topic).getName());
    }

    /** Called by what is woven. */
    public static void exceeded(Object topic, Object type) {
        TestFaults.at("quota_exceeded");
        Collector.recorder().policies.exceeded((PersistentTopic) topic, (BacklogQuotaType) type);
    }
}
