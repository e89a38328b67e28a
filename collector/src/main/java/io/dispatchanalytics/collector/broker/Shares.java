package io.dispatchanalytics.collector.broker;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.bookkeeper.mledger.Entry;
import org.apache.pulsar.broker.service.Consumer;
import org.apache.pulsar.broker.service.RedeliveryTracker;

/**
 * Who was sent what, from the sending until limiters are charged for it.
 *
 * A dispatcher with several consumers charges on the same thread, just after it has sent to all of them. One with an
 * active consumer charges when the connection has taken the entries: then the list that was sent tells which they were.
 */
public final class Shares {
    private final ThreadLocal<List<Share>> sent = ThreadLocal.withInitial(ArrayList::new);
    private final Map<SameList, Share> onTheWay = new ConcurrentHashMap<>();

    /** A list by itself: its elements change. */
    private record SameList(Object list) {
        @Override
        public int hashCode() {
            return System.identityHashCode(list);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof SameList same && same.list == list;
        }
    }

    Shares() { }

    /** A consumer is about to be sent these. */
    public void sending(Consumer consumer, List<? extends Entry> entries, long msgs, long bytes, RedeliveryTracker tracker) {
        Share share = new Share(consumer, entries, msgs, bytes, tracker);
        if (share.isOfActiveConsumer()) {
            onTheWay.put(new SameList(entries), share);
            return;
        }
        List<Share> shares = sent.get();
        // What another dispatcher of this thread left behind when it failed.
        if (!shares.isEmpty() && shares.get(0).consumer.getSubscription() != consumer.getSubscription()) {
            shares.clear();
        }
        shares.add(share);
    }

    /** The connection of an active consumer has taken these entries, or failed: they are charged next, or never. */
    public void arrived(Object entries) {
        Share share = onTheWay.remove(new SameList(entries));
        List<Share> shares = sent.get();
        shares.clear();
        if (share != null) {
            shares.add(share);
        }
    }

    /** What was charged after arrived() is over. */
    public void charged() {
        sent.get().clear();
    }

    /**
     * What makes up a delivery of this size; empty where it is not known. Filtered entries are charged alone, before others are sent.
     *
     * What an active consumer is charged for may be of another size: Pulsar counts it in an object of the thread, which a later sending
     * may have used before the connection took this one.
     */
    List<Share> of(long msgs, long bytes) {
        List<Share> shares = sent.get();
        if (shares.size() == 1 && shares.get(0).isOfActiveConsumer()) {
            List<Share> found = List.copyOf(shares);
            shares.clear();
            return found;
        }
        long sumMsgs = 0;
        long sumBytes = 0;
        for (int at = 0; at < shares.size(); at++) {
            sumMsgs += shares.get(at).msgs;
            sumBytes += shares.get(at).bytes;
        }
        if (shares.isEmpty() || sumMsgs != msgs || sumBytes != bytes) {
            return List.of();
        }
        List<Share> found = List.copyOf(shares);
        shares.clear();
        return found;
    }
}
