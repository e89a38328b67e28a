package io.dispatchanalytics.collector.broker;

import io.dispatchanalytics.collector.log.Event;
import io.dispatchanalytics.collector.log.EventQueue;
import io.dispatchanalytics.collector.log.Fragments;
import org.apache.bookkeeper.mledger.Position;
import org.apache.pulsar.client.api.transaction.TxnID;

/** Transactions that hold messages of a topic back. Each call is under the monitor of the topic's transaction buffer. */
public final class OpenTransactions {
    private static final Fragments ACTIONS = new Fragments("transaction_action");

    private final EventQueue queue;
    private final Topics topics;

    OpenTransactions(EventQueue queue, Topics topics) {
        this.queue = queue;
        this.topics = topics;
    }

    /** Its first message is persisted. */
    public void opened(String topicName, TxnID id, Position first, Position maxRead, int open) {
        LoadedTopic topic = topics.of(topicName);
        if (topic != null) {
            Event event = of(Fields.TRANSACTION_OPEN, topic, id).number(Fields.LEDGER, first.getLedgerId())
                    .number(Fields.ENTRY, first.getEntryId());
            queue.put(left(event, maxRead, open));
        }
    }

    /** It is committed or aborted. */
    public void ended(String topicName, TxnID id, boolean aborted, Position maxRead, int open) {
        LoadedTopic topic = topics.of(topicName);
        if (topic != null) {
            queue.put(left(of(Fields.TRANSACTION_END, topic, id).with(ACTIONS.of(aborted ? "abort" : "commit")), maxRead, open));
        }
    }

    private static Event of(byte[] type, LoadedTopic topic, TxnID id) {
        return Event.of(type).with(topic.fragment).number(Fields.TXN_MOST, id.getMostSigBits()).number(Fields.TXN_LEAST, id.getLeastSigBits());
    }

    private static Event left(Event event, Position maxRead, int open) {
        return event.number(Fields.MAX_READ_LEDGER, maxRead.getLedgerId()).number(Fields.MAX_READ_ENTRY, maxRead.getEntryId())
                .number(Fields.OPEN_TRANSACTIONS, open);
    }
}
