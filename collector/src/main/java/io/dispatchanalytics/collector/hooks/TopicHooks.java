package io.dispatchanalytics.collector.hooks;

import io.dispatchanalytics.collector.Collector;
import io.dispatchanalytics.collector.TestFaults;
import net.bytebuddy.asm.Advice;
import org.apache.pulsar.broker.service.persistent.PersistentTopic;

/** Topics that come and go, and their policies. */
public final class TopicHooks {
    private TopicHooks() { }

    /** A topic object was made. */
    public static final class Load {
        private Load() { }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class)
        public static void exit(@Advice.This Object topic) {
            loaded(topic);
        }
    }

    /** A topic object is dropped. Before the broker forgets it: the next load cannot come first. */
    public static final class Unload {
        private Unload() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static void enter(@Advice.Argument(0) String topic) {
            unloaded(topic);
        }
    }

    /** Policies of the namespace were set into a topic. */
    public static final class NamespacePoliciesSet {
        private NamespacePoliciesSet() { }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class)
        public static void exit(@Advice.This Object topic) {
            namespacePoliciesSet(topic);
        }
    }

    /** The rates of a topic were computed anew. */
    public static final class Rates {
        private Rates() { }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class)
        public static void exit(@Advice.This Object topic) {
            ratesUpdated(topic);
        }
    }

    /** Policies of its own were set into a topic. */
    public static final class PoliciesSet {
        private PoliciesSet() { }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class)
        public static void exit(@Advice.This Object topic) {
            policiesSet(topic);
        }
    }

    /** Called by what is woven. */
    public static void loaded(Object topic) {
        TestFaults.at("topic_load");
        Collector.recorder().topicLife.load((PersistentTopic) topic);
    }

    /** Called by what is woven. */
    public static void unloaded(String topic) {
        TestFaults.at("topic_unload");
        Collector.recorder().topicLife.unload(topic);
    }

    /** Called by what is woven. */
    public static void policiesSet(Object topic) {
        TestFaults.at("backlog_quota");
        if (topic instanceof PersistentTopic persistent) {
            Collector.recorder().policies.topicSet(persistent);
        }
    }

    /** Called by what is woven. */
    public static void namespacePoliciesSet(Object topic) {
        TestFaults.at("backlog_quota");
        if (topic instanceof PersistentTopic persistent) {
            Collector.recorder().policies.namespaceSet(persistent);
        }
    }

    /** Called by what is woven. */
    public static void ratesUpdated(Object topic) {
        Collector.recorder().policies.averagePublished((PersistentTopic) topic);
    }
}
