package io.dispatchanalytics.collector.hooks;

import io.dispatchanalytics.collector.Collector;
import io.dispatchanalytics.collector.TestFaults;
import java.util.Map;
import net.bytebuddy.asm.Advice;
import org.apache.bookkeeper.mledger.Position;
import org.apache.pulsar.broker.service.persistent.PersistentTopic;
import org.apache.pulsar.broker.transaction.buffer.AbortedTxnProcessor;
import org.apache.pulsar.client.api.transaction.TxnID;

/** The transaction buffer of a topic, always under its monitor. */
public final class TransactionHooks {
    private TransactionHooks() { }

    /** A message of a transaction is persisted: maybe its first. */
    public static final class Message {
        private Message() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static int enter(@Advice.FieldValue("ongoingTxns") Map<?, ?> open) {
            return open.size();
        }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class)
        public static void exit(@Advice.Enter int before, @Advice.FieldValue("ongoingTxns") Map<?, ?> open,
                @Advice.FieldValue("topic") Object topic, @Advice.FieldValue("maxReadPosition") Object maxRead,
                @Advice.Argument(0) Object id, @Advice.Argument(1) Object position) {
            if (open.size() > before) {
                opened(topic, id, position, maxRead, open.size());
            }
        }
    }

    /** The marker of a transaction is persisted. */
    public static final class End {
        private End() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static int enter(@Advice.FieldValue("ongoingTxns") Map<?, ?> open) {
            return open.size();
        }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class)
        public static void exit(@Advice.Enter int before, @Advice.FieldValue("ongoingTxns") Map<?, ?> open,
                @Advice.FieldValue("topic") Object topic, @Advice.FieldValue("maxReadPosition") Object maxRead,
                @Advice.FieldValue("snapshotAbortedTxnProcessor") Object aborted, @Advice.Argument(0) Object id) {
            if (open.size() < before) {
                ended(topic, id, aborted, maxRead, open.size());
            }
        }
    }

    /** Called by what is woven. */
    public static void opened(Object topic, Object id, Object position, Object maxRead, int open) {
        TestFaults.at("transaction_open");
        Collector.recorder().openTransactions.opened(((PersistentTopic) topic).getName(), (TxnID) id, (Position) position, (Position) maxRead, open);
    }

    /** Called by what is woven. One that was aborted is known as such before it is taken from the open ones. */
    public static void ended(Object topic, Object id, Object aborted, Object maxRead, int open) {
        TestFaults.at("transaction_end");
        boolean isAborted = ((AbortedTxnProcessor) aborted).checkAbortedTransaction((TxnID) id);
        Collector.recorder().openTransactions.ended(((PersistentTopic) topic).getName(), (TxnID) id, isAborted, (Position) maxRead, open);
    }
}
