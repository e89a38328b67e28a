package io.dispatchanalytics.collector.hooks;

import io.dispatchanalytics.collector.Collector;
import io.dispatchanalytics.collector.TestFaults;
import java.util.concurrent.CompletableFuture;
import net.bytebuddy.asm.Advice;
import org.apache.pulsar.broker.service.Consumer;
import org.apache.pulsar.broker.service.Dispatcher;
import org.apache.pulsar.broker.service.Producer;
import org.apache.pulsar.broker.service.Subscription;
import org.apache.pulsar.broker.service.persistent.PersistentTopic;
import org.apache.pulsar.common.policies.data.BacklogQuota.BacklogQuotaType;

/** Dispatchers, consumers and producers that come and go. */
public final class ClientHooks {
    private ClientHooks() { }

    /** A dispatcher was made, as far as its type and its subscription. */
    public static final class DispatcherOpen {
        private DispatcherOpen() { }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class)
        public static void exit(@Advice.This Object dispatcher, @Advice.FieldValue("subscription") Object subscription) {
            dispatcherOpened(dispatcher, subscription);
        }
    }

    /** A dispatcher is closed. */
    public static final class DispatcherClose {
        private DispatcherClose() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static void enter(@Advice.This Object dispatcher, @Advice.FieldValue("subscription") Object subscription) {
            dispatcherClosed(dispatcher, subscription);
        }
    }

    /** A consumer was added, refused, or waits for the answer of another connection. */
    public static final class ConsumerOpen {
        private ConsumerOpen() { }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class)
        public static void exit(@Advice.This Object dispatcher, @Advice.FieldValue("subscription") Object subscription,
                @Advice.Argument(0) Object consumer, @Advice.Return Object added) {
            consumerAdded(dispatcher, subscription, consumer, added);
        }
    }

    /** A consumer was removed; if it was not there the method has thrown. */
    public static final class ConsumerClose {
        private ConsumerClose() { }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class)
        public static void exit(@Advice.This Object subscription, @Advice.Argument(0) Object consumer) {
            consumerRemoved(subscription, consumer);
        }
    }

    /** A producer was added, refused, or waits. */
    public static final class ProducerOpen {
        private ProducerOpen() { }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class)
        public static void exit(@Advice.Argument(0) Object producer, @Advice.Return Object added) {
            producerAdded(producer, added);
        }
    }

    /** A producer asks to be opened, and a backlog quota may refuse it. */
    public static final class QuotaOfProducer {
        private QuotaOfProducer() { }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class)
        public static void exit(@Advice.This Object topic, @Advice.Argument(0) String producer, @Advice.Argument(1) Object type,
                @Advice.Return Object checked) {
            quotaChecked(topic, producer, type, checked);
        }
    }

    /** A producer was removed. */
    public static final class ProducerClose {
        private ProducerClose() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static void enter(@Advice.Argument(0) Object producer) {
            producerRemoved(producer);
        }
    }

    /** Called by what is woven. */
    public static void dispatcherOpened(Object dispatcher, Object subscription) {
        TestFaults.at("dispatcher_open");
        Subscription of = (Subscription) subscription;
        Collector.recorder().topicLife.dispatcherOpened(of.getTopicName(), of.getName(), (Dispatcher) dispatcher);
    }

    /** Called by what is woven. */
    public static void dispatcherClosed(Object dispatcher, Object subscription) {
        TestFaults.at("dispatcher_close");
        Subscription of = (Subscription) subscription;
        Collector.recorder().deliveries.dispatcherEnded(dispatcher);
        Collector.recorder().topicLife.dispatcherClosed(of.getTopicName(), of.getName(), (Dispatcher) dispatcher);
    }

    /** Called by what is woven. */
    public static void consumerAdded(Object dispatcher, Object subscription, Object consumer, Object added) {
        TestFaults.at("consumer_open");
        afterSuccess(added, "consumer_open", () -> {
            // A dispatcher that is closed lets a consumer go without a word.
            if (((Dispatcher) dispatcher).getConsumers().contains(consumer)) {
                Subscription of = (Subscription) subscription;
                Collector.recorder().topicLife.consumerOpened(of.getTopicName(), of.getName(), (Consumer) consumer);
            }
        });
    }

    /** Called by what is woven. */
    public static void consumerRemoved(Object subscription, Object consumer) {
        TestFaults.at("consumer_close");
        Subscription of = (Subscription) subscription;
        Collector.recorder().deliveries.ended((Consumer) consumer);
        Collector.recorder().topicLife.consumerClosed(of.getTopicName(), of.getName(), (Consumer) consumer);
    }

    /** Called by what is woven. */
    public static void producerAdded(Object producer, Object added) {
        TestFaults.at("producer_open");
        Producer opened = (Producer) producer;
        afterSuccess(added, "producer_open", () -> Collector.recorder().topicLife.producerOpened(opened.getTopic().getName(), opened));
        afterFailure(added, fault -> Collector.recorder().refusals.byTopic(opened, fault));
    }

    /** Called by what is woven. */
    public static void quotaChecked(Object topic, String producer, Object type, Object checked) {
        TestFaults.at("producer_refused");
        BacklogQuotaType quotaType = (BacklogQuotaType) type;
        afterFailure(checked, fault -> Collector.recorder().refusals.byQuota(((PersistentTopic) topic).getName(), producer, quotaType.name(),
                ((PersistentTopic) topic).getBacklogQuota(quotaType), fault));
    }

    /** Called by what is woven. */
    public static void producerRemoved(Object producer) {
        TestFaults.at("producer_close");
        Producer closed = (Producer) producer;
        Collector.recorder().topicLife.producerClosed(closed.getTopic().getName(), closed);
    }

    private static void afterSuccess(Object future, String point, Runnable report) {
        ((CompletableFuture<?>) future).whenComplete((result, fault) -> {
            if (fault == null) {
                Collector.guarded(point, report);
            }
        });
    }

    private static void afterFailure(Object future, java.util.function.Consumer<Throwable> report) {
        ((CompletableFuture<?>) future).whenComplete((result, fault) -> {
            if (fault != null) {
                Collector.guarded("producer_refused", () -> report.accept(fault));
            }
        });
    }
}
