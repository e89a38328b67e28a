package io.dispatchanalytics.collector.broker;

import io.dispatchanalytics.collector.log.Event;
import io.dispatchanalytics.collector.log.EventQueue;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.apache.bookkeeper.mledger.ManagedLedger;
import org.apache.bookkeeper.mledger.Position;
import org.apache.commons.collections4.map.LinkedMap;
import org.apache.pulsar.broker.service.persistent.PersistentTopic;
import org.apache.pulsar.broker.transaction.buffer.TransactionBuffer;
import org.apache.pulsar.broker.transaction.buffer.impl.TopicTransactionBuffer;
import org.apache.pulsar.client.api.transaction.TxnID;

/** `topic_state`: what the broker holds of a topic. */
final class TopicStates {
    private static final byte[][] NUMBERS = {
        Fields.LEDGER, Fields.ENTRY, Fields.ENTRIES, Fields.BYTES, Fields.LEDGERS, Fields.PRODUCERS, Fields.OPEN_TRANSACTIONS,
        Fields.MAX_READ_LEDGER, Fields.MAX_READ_ENTRY, Fields.TXN_MOST, Fields.TXN_LEAST,
    };
    private static final byte[][] NONE = {};

    private final EventQueue queue;

    TopicStates(EventQueue queue) {
        this.queue = queue;
    }

    void write(LoadedTopic loaded, PersistentTopic topic, long asOfSeq) {
        Reading reading = new Reading(NUMBERS, NONE, into -> read(topic, into));
        long[] values = reading.values();
        if (values[0] != Reading.ABSENT) {
            queue.put(reading.to(Event.of(Fields.TOPIC_STATE).with(loaded.fragment).number(Fields.AS_OF_SEQ, asOfSeq), values));
        }
    }

    private static void read(PersistentTopic topic, long[] into) {
        ManagedLedger ledger = topic.getManagedLedger();
        Position last = ledger.getLastConfirmedEntry();
        if (last == null) {
            return;
        }
        into[0] = last.getLedgerId();
        into[1] = last.getEntryId();
        into[2] = ledger.getNumberOfEntries();
        into[3] = ledger.getTotalSize();
        into[4] = ledger.getLedgersInfo().size();
        into[5] = topic.getProducers().size();
        TransactionBuffer buffer = topic.getTransactionBuffer();
        into[6] = buffer.getOngoingTxnCount();
        Position maxRead = buffer.getMaxReadPosition();
        if (into[6] > 0 || maxRead.compareTo(last) < 0) {
            into[7] = maxRead.getLedgerId();
            into[8] = maxRead.getEntryId();
        }
        if (into[6] > 0 && buffer instanceof TopicTransactionBuffer ofTopic) {
            lowest(ofTopic, into);
        }
    }

    private static void lowest(TopicTransactionBuffer buffer, long[] into) {
        // The map is no concurrent one: the buffer changes it under this monitor.
        synchronized (buffer) {
            LinkedMap<?, ?> open = (LinkedMap<?, ?>) Open.TRANSACTIONS.get(buffer);
            if (!open.isEmpty() && open.firstKey() instanceof TxnID id) {
                into[9] = id.getMostSigBits();
                into[10] = id.getLeastSigBits();
            }
        }
    }

    /** Looked up when a transaction is met first. */
    private static final class Open {
        static final VarHandle TRANSACTIONS = transactions();

        private static VarHandle transactions() {
            try {
                return MethodHandles.privateLookupIn(TopicTransactionBuffer.class, MethodHandles.lookup())
                        .findVarHandle(TopicTransactionBuffer.class, "ongoingTxns", LinkedMap.class);
            } catch (ReflectiveOperationException other) {
                throw new IllegalStateException("this broker's transaction buffer has no field ongoingTxns", other);
            }
        }
    }
}
