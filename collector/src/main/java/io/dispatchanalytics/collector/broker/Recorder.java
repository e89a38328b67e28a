package io.dispatchanalytics.collector.broker;

import io.dispatchanalytics.collector.log.EventQueue;
import io.dispatchanalytics.collector.names.Names;
import java.util.List;
import java.util.function.Supplier;

/** Everything that turns what hooks see into events, put together once. */
public final class Recorder {
    public final EventQueue queue;
    public final Topics topics;
    public final Policies policies;
    public final TopicLife topicLife;
    public final CursorMoves cursorMoves;
    public final Traffic traffic;
    public final QuotaRounds quotaRounds;
    public final Channels channels;
    public final BrokerLife brokerLife;
    public final Deliveries deliveries;
    public final Storage storage;
    public final Counted counted;
    public final Shares shares;
    public final BlockedKeys blockedKeys;
    public final OpenTransactions openTransactions;
    public final Refusals refusals;
    public final Replications replications;
    public final States states;

    /** Nothing is recorded before brokerLife begins. */
    public Recorder(EventQueue queue, Names names, Supplier<List<String>> missingPoints, long flowNs, long stateNs) {
        this.queue = queue;
        Connections connections = new Connections(queue, names);
        topics = new Topics(names);
        policies = new Policies(queue, topics);
        topicLife = new TopicLife(queue, topics, policies, connections);
        cursorMoves = new CursorMoves(queue, topics);
        shares = new Shares();
        traffic = new Traffic(queue, topics, connections, shares);
        quotaRounds = new QuotaRounds(queue, topics);
        channels = new Channels(queue, connections);
        deliveries = new Deliveries(queue, topics, connections, flowNs);
        storage = new Storage(queue, topics);
        counted = new Counted(queue, topics);
        blockedKeys = new BlockedKeys(queue, topics, connections);
        openTransactions = new OpenTransactions(queue, topics);
        refusals = new Refusals(queue, topics, connections);
        replications = new Replications(queue, topics);
        List<Runnable> everySecond = List.of(deliveries::heartbeat, blockedKeys::heartbeat, refusals::heartbeat);
        brokerLife = new BrokerLife(queue, topicLife, policies, connections, everySecond, missingPoints);
        states = new States(queue, topics, connections, brokerLife, stateNs);
    }
}
