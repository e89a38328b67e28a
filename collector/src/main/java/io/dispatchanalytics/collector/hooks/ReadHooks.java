package io.dispatchanalytics.collector.hooks;

import io.dispatchanalytics.collector.Collector;
import io.dispatchanalytics.collector.TestFaults;
import io.dispatchanalytics.collector.broker.ReadWalk;
import io.dispatchanalytics.collector.broker.Recorder;
import net.bytebuddy.asm.Advice;
import org.apache.bookkeeper.mledger.ManagedCursor;
import org.apache.commons.lang3.tuple.Pair;
import org.apache.pulsar.broker.ServiceConfiguration;
import org.apache.pulsar.broker.service.Consumer;
import org.apache.pulsar.broker.service.Dispatcher;
import org.apache.pulsar.broker.service.Subscription;
import org.apache.pulsar.broker.service.Topic;
import org.apache.pulsar.broker.service.persistent.DispatchRateLimiter;
import org.apache.pulsar.broker.service.persistent.PersistentTopic;
import org.apache.pulsar.common.policies.data.DispatchRate;

/** Limiters: their rates, what they answer, what is charged to them. */
public final class ReadHooks {
    private ReadHooks() { }

    /** A dispatcher with several consumers begins to compute how much to read. */
    public static final class PermitsOfMany {
        private PermitsOfMany() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static void enter(@Advice.Argument(0) int permits) {
            permits(permits);
        }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        public static void exit() {
            permitsEnded();
        }
    }

    /** A dispatcher with one active consumer does. */
    public static final class PermitsOfOne {
        private PermitsOfOne() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static void enter(@Advice.Argument(0) Object consumer) {
            permitsOf(consumer);
        }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        public static void exit() {
            permitsEnded();
        }
    }

    /** The walk through the limiters. */
    public static final class Read {
        private Read() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static void enter(@Advice.Argument(0) int msgs, @Advice.Argument(1) long bytes) {
            walkBegins(msgs, bytes);
        }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class)
        public static void exit(@Advice.This Object dispatcher, @Advice.FieldValue("subscription") Object subscription,
                @Advice.Return Object left) {
            walkEnded(dispatcher, subscription, left);
        }
    }

    /** A limiter's answer in messages. */
    public static final class AnswerMsgs {
        private AnswerMsgs() { }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class)
        public static void exit(@Advice.FieldValue("type") Object type, @Advice.Return long answer,
                @Advice.FieldValue("dispatchRateLimiterOnMessage") Object limiter) {
            answered(type, false, answer, limiter);
        }
    }

    /** A limiter's answer in bytes. */
    public static final class AnswerBytes {
        private AnswerBytes() { }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class)
        public static void exit(@Advice.FieldValue("type") Object type, @Advice.Return long answer,
                @Advice.FieldValue("dispatchRateLimiterOnByte") Object limiter) {
            answered(type, true, answer, limiter);
        }
    }

    /** A limiter got its rate. */
    public static final class Rate {
        private Rate() { }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class)
        public static void exit(@Advice.This Object limiter, @Advice.FieldValue("type") Object type, @Advice.FieldValue("topic") Object of,
                @Advice.FieldValue("topicName") String topic,
                @Advice.FieldValue("subscriptionName") String sub, @Advice.Argument(0) Object rate) {
            rated(limiter, type, of, topic, sub, rate);
        }
    }

    /** A delivery is charged, or is not. */
    public static final class Dispatch {
        private Dispatch() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static void enter(@Advice.This Object dispatcher, @Advice.FieldValue("subscription") Object subscription,
                @Advice.FieldValue("serviceConfig") Object configuration, @Advice.Argument(0) Object topic, @Advice.Argument(1) Object cursor,
                @Advice.Argument(2) long entries, @Advice.Argument(3) long msgs, @Advice.Argument(4) long bytes) {
            dispatched(dispatcher, subscription, topic, isCharged(configuration, cursor), entries, msgs, bytes);
        }
    }

    /** Called by what is woven. */
    public static void permits(int permits) {
        ReadWalk.current().permits(permits);
    }

    /** Called by what is woven. */
    public static void permitsOf(Object consumer) {
        ReadWalk.current().permits(((Consumer) consumer).getAvailablePermits());
    }

    /** Called by what is woven. */
    public static void permitsEnded() {
        ReadWalk.current().forgetPermits();
    }

    /** Called by what is woven. */
    public static void walkBegins(int msgs, long bytes) {
        ReadWalk.current().begin(msgs, bytes);
    }

    /** Called by what is woven. */
    public static void answered(Object type, boolean bytes, long answer, Object limiter) {
        ReadWalk.current().answered(type, bytes, answer, limiter);
    }

    /** Called by what is woven. */
    public static void walkEnded(Object dispatcher, Object subscription, Object left) {
        TestFaults.at("read");
        Pair<?, ?> limits = (Pair<?, ?>) left;
        Subscription of = (Subscription) subscription;
        Recorder recorder = Collector.recorder();
        ReadWalk.current().end(recorder.queue, recorder.topics, (Dispatcher) dispatcher, of.getTopicName(), of.getName(),
                ((Number) limits.getLeft()).longValue(), ((Number) limits.getRight()).longValue());
    }

    /** Called by what is woven. */
    public static void rated(Object limiter, Object type, Object of, String topic, String sub, Object rate) {
        TestFaults.at("dispatch_rate");
        Collector.recorder().policies.rate((DispatchRateLimiter) limiter, type, (PersistentTopic) of, topic, sub, (DispatchRate) rate);
    }

    /** Called by what is woven. As the broker decides it in the method that follows. */
    public static boolean isCharged(Object configuration, Object cursor) {
        return ((ServiceConfiguration) configuration).isDispatchThrottlingOnNonBacklogConsumerEnabled()
                || cursor != null && !((ManagedCursor) cursor).isActive();
    }

    /** Called by what is woven. */
    public static void dispatched(Object dispatcher, Object subscription, Object topic, boolean charged, long entries, long msgs, long bytes) {
        TestFaults.at("dispatch");
        DispatchRateLimiter limiter = ((Dispatcher) dispatcher).getRateLimiter().orElse(null);
        Collector.recorder().traffic.dispatched((Topic) topic, ((Subscription) subscription).getName(), limiter, entries, msgs, bytes, charged);
    }
}
