package io.dispatchanalytics.collector.points;

import static net.bytebuddy.matcher.ElementMatchers.any;
import static net.bytebuddy.matcher.ElementMatchers.declaresField;
import static net.bytebuddy.matcher.ElementMatchers.declaresMethod;
import static net.bytebuddy.matcher.ElementMatchers.isAbstract;
import static net.bytebuddy.matcher.ElementMatchers.isConstructor;
import static net.bytebuddy.matcher.ElementMatchers.nameStartsWith;
import static net.bytebuddy.matcher.ElementMatchers.named;
import static net.bytebuddy.matcher.ElementMatchers.not;
import static net.bytebuddy.matcher.ElementMatchers.takesArgument;
import static net.bytebuddy.matcher.ElementMatchers.takesArguments;

import io.dispatchanalytics.collector.broker.DispatcherFigures;
import io.dispatchanalytics.collector.hooks.BrokerHooks;
import io.dispatchanalytics.collector.hooks.ChannelHooks;
import io.dispatchanalytics.collector.hooks.ClientHooks;
import io.dispatchanalytics.collector.hooks.CountedHooks;
import io.dispatchanalytics.collector.hooks.CursorHooks;
import io.dispatchanalytics.collector.hooks.DeliveryHooks;
import io.dispatchanalytics.collector.hooks.KeyHooks;
import io.dispatchanalytics.collector.hooks.LedgerHooks;
import io.dispatchanalytics.collector.hooks.MoverHooks;
import io.dispatchanalytics.collector.hooks.QuotaHooks;
import io.dispatchanalytics.collector.hooks.ReadHooks;
import io.dispatchanalytics.collector.hooks.ReplicatorHooks;
import io.dispatchanalytics.collector.hooks.ShareHooks;
import io.dispatchanalytics.collector.hooks.StorageHooks;
import io.dispatchanalytics.collector.hooks.TopicHooks;
import io.dispatchanalytics.collector.hooks.TransactionHooks;
import io.dispatchanalytics.collector.hooks.TrafficHooks;
import io.dispatchanalytics.collector.points.Point.Target;
import java.util.List;
import net.bytebuddy.description.method.MethodDescription;
import net.bytebuddy.matcher.ElementMatcher;

/** All points, declared once: for weaving, for `collector points`, for `missing_points`. */
public final class Points {
    private static final String SERVICE = "org.apache.pulsar.broker.service.";
    private static final String PERSISTENT = SERVICE + "persistent.";
    private static final String MLEDGER = "org.apache.bookkeeper.mledger.impl.";
    private static final String MANY = PERSISTENT + "PersistentDispatcherMultipleConsumers";
    private static final String MANY_CLASSIC = MANY + "Classic";
    private static final String KEYS = PERSISTENT + "PersistentStickyKeyDispatcherMultipleConsumers";
    private static final String TRANSACTIONS = "org.apache.pulsar.broker.transaction.buffer.impl.TopicTransactionBuffer";
    private static final String REPLICATOR = PERSISTENT + "PersistentReplicator";
    private static final String ONE = SERVICE + "AbstractDispatcherSingleActiveConsumer";
    private static final String ONE_PERSISTENT = PERSISTENT + "PersistentDispatcherSingleActiveConsumer";
    private static final String CONSUMER = SERVICE + "Consumer";
    private static final String LEDGER = MLEDGER + "ManagedLedgerImpl";
    private static final String TOPIC = SERVICE + "AbstractTopic";
    private static final String CONNECTION = SERVICE + "ServerCnx";
    private static final String TRACKER = SERVICE + "ServerCnxThrottleTracker";
    private static final String BROKER = SERVICE + "BrokerService";
    /** The field in which the compiler keeps where a seek goes. */
    private static final String SEEK_FIELD = "val$newMarkDeletePosition";

    private static final ElementMatcher.Junction<MethodDescription> BY_BROKER =
            method("blockDispatcherOnUnackedMsgs", 0).or(method("unBlockDispatcherOnUnackedMsgs", 0));

    private static final List<Point> ALL = List.of(
            point("broker_start", List.of("broker_start"), at(BROKER, isConstructor().and(takesArguments(2)), BrokerHooks.Start.class)),
            point("broker_stop", List.of("broker_stop"), at(BROKER, method("closeAsync", 0), BrokerHooks.Stop.class)),
            point("topic_load", List.of("topic_load", "topic_unload", "ledger_open", "ledger_close", "cursor_open", "backlog_quota"),
                    at(PERSISTENT + "PersistentTopic", isConstructor().and(takesArguments(3)), TopicHooks.Load.class)),
            point("topic_unload", List.of("topic_unload"), at(BROKER, method("removeTopicFromCache", 3), TopicHooks.Unload.class)),
            point("backlog_quota", List.of("backlog_quota", "policy_set"),
                    at(TOPIC, method("updateTopicPolicy", 1), TopicHooks.PoliciesSet.class),
                    at(TOPIC, method("updateTopicPolicyByNamespacePolicy", 1), TopicHooks.NamespacePoliciesSet.class)),
            point("publish_rate", List.of("publish_rate"), at(PERSISTENT + "PersistentTopic", method("updateRates", 6), TopicHooks.Rates.class)),
            point("dispatch_rate", List.of("dispatch_rate"), limiters(method("updateDispatchRate", 1), ReadHooks.Rate.class)),
            point("ledger_open", List.of("ledger_open"), at(LEDGER, method("updateLedgersIdsComplete", 1), LedgerHooks.Open.class)),
            // Newer brokers have both methods, of which the one calls the other.
            point("ledger_close", List.of("ledger_close"),
                    optional(LEDGER, method("ledgerClosed", 2), LedgerHooks.Close.class),
                    new Target(LEDGER, not(declaresMethod(method("ledgerClosed", 2))), method("ledgerClosed", 1), LedgerHooks.Close.class, true)),
            point("ledger_trim", List.of("ledger_trim"), at(LEDGER, method("doDeleteLedgers", 1), LedgerHooks.Trim.class)),
            point("cursor_open", List.of("cursor_open"), at(LEDGER, method("addCursor", 1), CursorHooks.Open.class)),
            point("cursor_close", List.of("cursor_close"), at(LEDGER, method("asyncDeleteCursor", 3), CursorHooks.Close.class)),
            point("mark_delete", List.of("mark_delete"),
                    at(MLEDGER + "ManagedCursorImpl", method("setAcknowledgedPosition", 1), CursorHooks.Move.class)),
            point("mark_delete_persisted", List.of("mark_delete"),
                    at(LEDGER, method("onCursorMarkDeletePositionUpdated", 2), CursorHooks.Persist.class)),
            point("mark_delete_reset", List.of("mark_delete"),
                    new Target(MLEDGER + "ManagedCursorImpl$*", declaresField(named(SEEK_FIELD)), method("operationComplete", 0),
                            CursorHooks.Seek.class, false)),
            // No hook: the field that a snapshot reads.
            point("cursor_heap", List.of("cursor_open"), new Target(MLEDGER + "ManagedCursorContainer",
                    declaresField(named(io.dispatchanalytics.collector.broker.CursorHeap.HEAP)), method("add", 2), null, false)),
            point("dispatcher_open", List.of("dispatcher_open"),
                    at(SERVICE + "AbstractDispatcherMultipleConsumers", isConstructor(), ClientHooks.DispatcherOpen.class),
                    at(ONE, isConstructor(), ClientHooks.DispatcherOpen.class)),
            point("dispatcher_close", List.of("dispatcher_close"),
                    at(MANY, method("close", 2), ClientHooks.DispatcherClose.class),
                    optional(MANY_CLASSIC, method("close", 2), ClientHooks.DispatcherClose.class),
                    at(ONE, method("close", 2), ClientHooks.DispatcherClose.class)),
            point("consumer_open", List.of("consumer_open"),
                    at(MANY, method("addConsumer", 1), ClientHooks.ConsumerOpen.class),
                    optional(MANY_CLASSIC, method("addConsumer", 1), ClientHooks.ConsumerOpen.class),
                    at(ONE, method("addConsumer", 1), ClientHooks.ConsumerOpen.class)),
            point("consumer_close", List.of("consumer_close"),
                    at(PERSISTENT + "PersistentSubscription", method("removeConsumer", 2), ClientHooks.ConsumerClose.class)),
            point("producer_open", List.of("producer_open"), at(TOPIC, method("addProducer", 2), ClientHooks.ProducerOpen.class)),
            point("producer_close", List.of("producer_close"), at(TOPIC, method("handleProducerRemoved", 1), ClientHooks.ProducerClose.class)),
            point("publish", List.of("publish"), at(MLEDGER + "OpAddEntry", method("run", 0), TrafficHooks.Publish.class)),
            point("read", List.of("read"),
                    at(SERVICE + "AbstractBaseDispatcher", method("applyRateLimitsToMessagesAndBytesToRead", 2), ReadHooks.Read.class)),
            point("read_permits", List.of("read"),
                    at(MANY, method("calculateToRead", 1), ReadHooks.PermitsOfMany.class),
                    optional(MANY_CLASSIC, method("calculateToRead", 1), ReadHooks.PermitsOfMany.class),
                    at(PERSISTENT + "PersistentDispatcherSingleActiveConsumer", method("calculateToRead", 1), ReadHooks.PermitsOfOne.class)),
            point("read_answers_msgs", List.of("read"), limiters(method("getAvailableDispatchRateLimitOnMsg", 0), ReadHooks.AnswerMsgs.class)),
            point("read_answers_bytes", List.of("read"), limiters(method("getAvailableDispatchRateLimitOnByte", 0), ReadHooks.AnswerBytes.class)),
            point("read_asked", List.of("read_done"), at(LEDGER, method("asyncReadEntries", 1), StorageHooks.Asked.class)),
            point("read_done", List.of("read_done"),
                    at(MANY, method("readEntriesComplete", 2), StorageHooks.Gave.class),
                    at(MANY, method("readEntriesFailed", 2), StorageHooks.Failed.class),
                    optional(MANY_CLASSIC, method("readEntriesComplete", 2), StorageHooks.Gave.class),
                    optional(MANY_CLASSIC, method("readEntriesFailed", 2), StorageHooks.Failed.class),
                    at(ONE_PERSISTENT, method("readEntriesComplete", 3), StorageHooks.Gave.class),
                    at(ONE_PERSISTENT, method("readEntriesFailed", 2), StorageHooks.Failed.class)),
            point("flow", List.of("flow"), at(CONSUMER, method("flowPermits", 1), DeliveryHooks.Flow.class)),
            point("consumer_blocked", List.of("consumer_blocked"),
                    at(CONSUMER, method("incrementUnackedMessages", 1), DeliveryHooks.ConsumerUnacked.class),
                    at(CONSUMER, method("flowPermits", 1), DeliveryHooks.ConsumerUnacked.class),
                    at(CONSUMER, method("redeliverUnacknowledgedMessages", 1), DeliveryHooks.ConsumerUnacked.class),
                    at(CONSUMER, method("updateBlockedConsumerOnUnackedMsgs", 1), DeliveryHooks.OwnerUnacked.class)),
            point("dispatcher_blocked", List.of("consumer_blocked"),
                    at(MANY, method("addUnAckedMessages", 1), DeliveryHooks.DispatcherUnacked.class),
                    at(MANY, BY_BROKER, DeliveryHooks.BrokerUnacked.class),
                    optional(MANY_CLASSIC, method("addUnAckedMessages", 1), DeliveryHooks.DispatcherUnacked.class),
                    optional(MANY_CLASSIC, BY_BROKER, DeliveryHooks.BrokerUnacked.class)),
            point("delayed", List.of("delayed"),
                    at(MANY, method("trackDelayedDelivery", 3), DeliveryHooks.Delayed.class),
                    optional(MANY_CLASSIC, method("trackDelayedDelivery", 3), DeliveryHooks.Delayed.class)),
            point("redeliver", List.of("redeliver"),
                    at(MANY, method("redeliverUnacknowledgedMessages", 2), DeliveryHooks.Redeliver.class),
                    optional(MANY_CLASSIC, method("redeliverUnacknowledgedMessages", 2), DeliveryHooks.Redeliver.class),
                    // The one with a list of positions calls the one with an epoch.
                    at(ONE_PERSISTENT, method("redeliverUnacknowledgedMessages", 2).and(takesArgument(1, long.class)), DeliveryHooks.Redeliver.class)),
            point("redeliver_of_closed", List.of("redeliver"),
                    at(MANY, method("removeConsumer", 1), DeliveryHooks.ConsumerLeaves.class),
                    optional(MANY_CLASSIC, method("removeConsumer", 1), DeliveryHooks.ConsumerLeaves.class)),
            point("compaction", List.of("compaction"),
                    at(PERSISTENT + "PersistentTopic", method("triggerCompaction", 0), CountedHooks.CompactionStart.class),
                    at(PERSISTENT + "PersistentTopic", nameStartsWith("lambda$triggerCompaction$").and(takesArguments(2))
                            .and(takesArgument(1, Throwable.class)), CountedHooks.CompactionEnd.class)),
            point("transaction", List.of("transaction"),
                    at(PERSISTENT + "PersistentTopic", method("publishTxnMessage", 3), CountedHooks.Published.class),
                    at(PERSISTENT + "PersistentTopic", method("endTxn", 3), CountedHooks.Ended.class),
                    at(PERSISTENT + "PersistentSubscription", method("transactionIndividualAcknowledge", 2), CountedHooks.Acked.class),
                    at(PERSISTENT + "PersistentSubscription", method("transactionCumulativeAcknowledge", 2), CountedHooks.Acked.class)),
            point("dispatch", List.of("dispatch"),
                    at(SERVICE + "AbstractBaseDispatcher", method("acquirePermitsForDeliveredMessages", 5), ReadHooks.Dispatch.class)),
            point("ack_consumer", List.of("ack"), at(SERVICE + "Consumer", method("messageAcked", 1), TrafficHooks.Acking.class)),
            point("ack", List.of("ack"), at(PERSISTENT + "PersistentSubscription", method("acknowledgeMessage", 3), TrafficHooks.Ack.class)),
            point("quota_round", List.of("quota_round"), at(BROKER, method("monitorBacklogQuota", 0), QuotaHooks.Round.class)),
            point("quota_check", List.of("quota_check"),
                    at(BROKER, nameStartsWith("lambda$monitorBacklogQuota$").and(takesArguments(4)).and(takesArgument(3, Throwable.class)),
                            QuotaHooks.Check.class)),
            point("quota_check_by_producer", List.of("quota_check"),
                    at(PERSISTENT + "PersistentTopic", method("updateOldPositionInfo", 0), QuotaHooks.LookUp.class)),
            point("quota_exceeded", List.of("quota_exceeded"),
                    at(SERVICE + "BacklogQuotaManager", method("handleExceededBacklogQuota", 3), QuotaHooks.Exceeded.class)),
            point("conn_open", List.of("conn_open"), at(CONNECTION, method("channelActive", 1), ChannelHooks.Open.class)),
            point("conn_close", List.of("conn_close"), at(CONNECTION, method("channelInactive", 1), ChannelHooks.Close.class)),
            point("writability", List.of("writability"), at(CONNECTION, method("channelWritabilityChanged", 1), ChannelHooks.Writability.class)),
            point("throttle", List.of("throttle"),
                    at(TRACKER, method("doMarkThrottled", 1), ChannelHooks.ThrottleOn.class),
                    at(TRACKER, method("doUnmarkThrottled", 1), ChannelHooks.ThrottleOff.class)),
            point("request", List.of("request"),
                    at(CONNECTION, method("checkPauseReceivingRequestsAfterResumeRateLimit", 1), ChannelHooks.Request.class)),
            // No hooks: fields that states read.
            point("state", List.of("state", "topic_state", "consumer_state", "limiter_state"),
                    field(MANY, DispatcherFigures.PERMITS), field(ONE_PERSISTENT, DispatcherFigures.READ_OUT)),
            point("dispatch_share", List.of("dispatch_share"),
                    at(CONSUMER, method("sendMessages", 9), ShareHooks.Send.class),
                    at(ONE_PERSISTENT, nameStartsWith("lambda$dispatchEntriesToConsumer$").and(takesArguments(3)), ShareHooks.Arrived.class)),
            point("keys_blocked", List.of("keys_blocked"),
                    at(KEYS, method("filterAndGroupEntriesForDispatching", 3), KeyHooks.Sort.class),
                    at(KEYS, method("canDispatchEntry", 4), KeyHooks.MayGo.class),
                    at(KEYS, method("handleNormalReadNotAllowed", 0), KeyHooks.ReadsNothing.class),
                    at(MANY, method("addMessageToReplay", 3), KeyHooks.PutAside.class)),
            point("transaction_open", List.of("transaction_open"), at(TRANSACTIONS, method("handleTransactionMessage", 2), TransactionHooks.Message.class)),
            point("transaction_end", List.of("transaction_end"),
                    at(TRANSACTIONS, method("removeTxnAndUpdateMaxReadPosition", 1), TransactionHooks.End.class)),
            point("producer_refused", List.of("producer_refused"),
                    at(PERSISTENT + "PersistentTopic", method("checkBacklogQuotaExceeded", 2), ClientHooks.QuotaOfProducer.class),
                    at(TOPIC, method("addProducer", 2), null)),
            point("replicator_connection", List.of("replicator_connection"),
                    at(REPLICATOR, method("setProducerAndTriggerReadEntries", 1), ReplicatorHooks.Connect.class),
                    at(REPLICATOR, method("disableReplicatorRead", 0), ReplicatorHooks.Disconnect.class),
                    at(SERVICE + "AbstractReplicator", nameStartsWith("lambda$startProducer$").and(takesArguments(1))
                            .and(takesArgument(0, Throwable.class)), ReplicatorHooks.CannotConnect.class)),
            point("replicator_read", List.of("replicator_read"),
                    at(REPLICATOR, method("readEntriesComplete", 2), ReplicatorHooks.Gave.class),
                    at(REPLICATOR, method("readEntriesFailed", 2), ReplicatorHooks.Failed.class)),
            point("broker_ack", List.of("broker_ack"), at(PERSISTENT + "PersistentSubscription", method("acknowledgeMessage", 3), null)),
            // `moved_by` is more than old logs have: rows that need `mark_delete` are whole without it.
            point("moved_by", List.of(),
                    at(PERSISTENT + "PersistentMessageExpiryMonitor", method("findEntryComplete", 2), MoverHooks.Expire.class),
                    at(SERVICE + "BacklogQuotaManager", method("handleExceededBacklogQuota", 3), MoverHooks.Evict.class),
                    at(MLEDGER + "ManagedCursorImpl", method("asyncSkipEntries", 4), MoverHooks.Skip.class),
                    at(MLEDGER + "ManagedCursorImpl", method("asyncClearBacklog", 2), MoverHooks.Clear.class)));

    /** Only for a collector that is attached to a running broker: how it finds that broker. */
    private static final Point RUNNING = point("attach", List.of("broker_start"),
            at(BROKER, method("updateRates", 0), BrokerHooks.Running.class),
            at(CONNECTION, method("messageReceived", 1), BrokerHooks.Request.class));

    private Points() { }

    /** Those of a collector that starts with the broker. */
    public static List<Point> all() {
        return ALL;
    }

    /** Those of a collector that comes later. */
    public static List<Point> allAndRunning() {
        return java.util.stream.Stream.concat(ALL.stream(), java.util.stream.Stream.of(RUNNING)).toList();
    }

    private static Point point(String name, List<String> events, Target... targets) {
        return new Point(name, events, List.of(targets));
    }

    private static ElementMatcher.Junction<MethodDescription> method(String name, int arguments) {
        return named(name).<MethodDescription>and(takesArguments(arguments)).and(not(isAbstract()));
    }

    private static Target at(String className, ElementMatcher<? super MethodDescription> method, Class<?> advice) {
        return new Target(className, any(), method, advice, false);
    }

    private static Target optional(String className, ElementMatcher<? super MethodDescription> method, Class<?> advice) {
        return new Target(className, any(), method, advice, true);
    }

    private static Target field(String className, String name) {
        return new Target(className, declaresField(named(name)), any(), null, false);
    }

    /** Brokers have one class of limiters, or an abstract one and two of it. */
    private static Target[] limiters(ElementMatcher<? super MethodDescription> method, Class<?> advice) {
        String limiter = PERSISTENT + "DispatchRateLimiter";
        return new Target[] {
            optional(limiter, method, advice),
            optional(limiter + "AsyncTokenBucketImpl", method, advice),
            optional(limiter + "ClassicImpl", method, advice),
        };
    }
}
