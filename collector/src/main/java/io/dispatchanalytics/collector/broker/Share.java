package io.dispatchanalytics.collector.broker;

import io.dispatchanalytics.collector.log.Event;
import java.util.List;
import org.apache.bookkeeper.mledger.Entry;
import org.apache.pulsar.broker.service.Consumer;
import org.apache.pulsar.broker.service.RedeliveryTracker;
import org.apache.pulsar.broker.service.RedeliveryTrackerDisabled;
import org.apache.pulsar.common.api.proto.CommandSubscribe.SubType;

/** What one consumer is sent at once. Read before it is sent: the broker recycles the entries then. */
final class Share {
    private static final long NOT_COUNTED = -1;

    final Consumer consumer;
    final long msgs;
    final long bytes;
    private long entries;
    private long firstLedger = Long.MAX_VALUE;
    private long firstEntry = Long.MAX_VALUE;
    private long lastLedger = -1;
    private long lastEntry = -1;
    private long redelivered;

    Share(Consumer consumer, List<? extends Entry> sent, long msgs, long bytes, RedeliveryTracker tracker) {
        this.consumer = consumer;
        this.msgs = msgs;
        this.bytes = bytes;
        boolean counts = tracker != null && !(tracker instanceof RedeliveryTrackerDisabled);
        redelivered = counts ? 0 : NOT_COUNTED;
        for (int at = 0; at < sent.size(); at++) {
            Entry entry = sent.get(at);
            // Those that a filter took out are null. Entries that are read again come in any order.
            if (entry != null) {
                take(entry.getLedgerId(), entry.getEntryId(), counts ? tracker : null);
            }
        }
    }

    private void take(long ledger, long entry, RedeliveryTracker tracker) {
        entries++;
        if (ledger < firstLedger || ledger == firstLedger && entry < firstEntry) {
            firstLedger = ledger;
            firstEntry = entry;
        }
        if (ledger > lastLedger || ledger == lastLedger && entry > lastEntry) {
            lastLedger = ledger;
            lastEntry = entry;
        }
        if (tracker != null && tracker.getRedeliveryCount(ledger, entry) > 0) {
            redelivered++;
        }
    }

    /** From now on this one has what the other has, too: of a delivery to several. */
    void unite(Share other) {
        long both = redelivered < 0 || other.redelivered < 0 ? NOT_COUNTED : redelivered + other.redelivered;
        if (other.entries > 0) {
            take(other.firstLedger, other.firstEntry, null);
            take(other.lastLedger, other.lastEntry, null);
        }
        redelivered = both;
    }

    /** Of a dispatcher that serves one consumer at a time. */
    boolean isOfActiveConsumer() {
        return consumer.subType() == SubType.Exclusive || consumer.subType() == SubType.Failover;
    }

    long entries() {
        return entries;
    }

    /** Where it lies in the topic, and how much of it was delivered before. */
    Event span(Event event) {
        if (lastLedger >= 0) {
            event.number(Fields.FIRST_LEDGER, firstLedger).number(Fields.FIRST_ENTRY, firstEntry)
                    .number(Fields.LAST_LEDGER, lastLedger).number(Fields.LAST_ENTRY, lastEntry);
        }
        return redelivered < 0 ? event : event.number(Fields.REDELIVERED, redelivered);
    }
}
