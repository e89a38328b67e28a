package peers.rules;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * One event of a broker's log: its place, its times ({@code ts} µs of the wall clock, {@code ns} of the monotonic clock), and by subclass
 * what the throttle rules read of it. Every other event only moves time.
 */
public abstract class Event {
    /** Stands for an absent number. */
    static final long ABSENT = Long.MIN_VALUE;

    public final long epoch;
    public final long seq;
    public final long ts;
    public final long ns;

    /** What all events have. */
    record Head(long epoch, long seq, long ts, long ns) {
        Head(DataInput in) throws IOException {
            this(in.readLong(), in.readLong(), in.readLong(), in.readLong());
        }
    }

    private Event(Head head) {
        epoch = head.epoch;
        seq = head.seq;
        ts = head.ts;
        ns = head.ns;
    }

    /** Number of the event's type in the log's contract. */
    abstract int typeCode();

    abstract void applyTo(BrokerProcess broker);

    /** Writes what the subclass adds. */
    abstract void writePayload(DataOutput out) throws IOException;

    public final void write(DataOutput out) throws IOException {
        out.writeByte(typeCode());
        out.writeLong(epoch);
        out.writeLong(seq);
        out.writeLong(ts);
        out.writeLong(ns);
        writePayload(out);
    }

    public static Event read(DataInput in) throws IOException {
        int code = in.readByte();
        Head head = new Head(in);
        return switch (code) {
            case EventTypes.BROKER_START, EventTypes.SETTING -> new BatchModeSet(head, code, in.readLong());
            case EventTypes.BROKER_STOP -> new BrokerStop(head);
            case EventTypes.DISPATCH_RATE -> new DispatchRate(head, in);
            case EventTypes.TOPIC_LOAD, EventTypes.TOPIC_UNLOAD -> new TopicLife(head, code, in.readLong());
            case EventTypes.LEDGER_OPEN, EventTypes.LEDGER_CLOSE, EventTypes.LEDGER_TRIM ->
                new LedgerLife(head, code, in.readLong(), in.readLong(), in.readLong(), in.readLong());
            case EventTypes.CURSOR_OPEN -> new CursorOpen(head, in.readLong(), in.readLong(), in.readLong(), in.readLong(), in.readLong());
            case EventTypes.CURSOR_CLOSE, EventTypes.DISPATCHER_CLOSE -> new SubscriptionEnd(head, code, in.readLong(), in.readLong());
            case EventTypes.DISPATCHER_OPEN -> new DispatcherOpen(head, in.readLong(), in.readLong(), in.readByte());
            case EventTypes.CONSUMER_OPEN, EventTypes.CONSUMER_CLOSE ->
                new ConsumerLife(head, code, in.readLong(), in.readLong(), in.readLong(), in.readLong());
            case EventTypes.PUBLISH -> new Publish(head, in.readLong(), in.readLong(), in.readLong(), in.readLong());
            case EventTypes.READ -> new Read(head, in);
            case EventTypes.DISPATCH -> new Dispatch(head, in);
            case EventTypes.MARK_DELETE ->
                new MarkDelete(head, in.readLong(), in.readLong(), in.readLong(), in.readLong(), in.readBoolean(), in.readBoolean());
            case EventTypes.CONN_OPEN, EventTypes.CONN_CLOSE -> new ConnectionLife(head, code, in.readLong());
            case EventTypes.WRITABILITY -> new Writability(head, in.readLong(), in.readBoolean());
            default -> new Other(head);
        };
    }

    private static void writeLongs(DataOutput out, long... values) throws IOException {
        for (long value : values) {
            out.writeLong(value);
        }
    }

    /** An event that only moves time. */
    static final class Other extends Event {
        Other(Head head) {
            super(head);
        }

        @Override
        int typeCode() {
            return EventTypes.OTHER;
        }

        @Override
        void applyTo(BrokerProcess broker) {}

        @Override
        void writePayload(DataOutput out) {}
    }

    /** {@code broker_stop}: the last event of its epoch. */
    static final class BrokerStop extends Event {
        BrokerStop(Head head) {
            super(head);
        }

        @Override
        int typeCode() {
            return EventTypes.BROKER_STOP;
        }

        @Override
        void applyTo(BrokerProcess broker) {}

        @Override
        void writePayload(DataOutput out) {}
    }

    /** {@code broker_start} or {@code setting}: {@code dispatchThrottlingOnBatchMessageEnabled} as 0, 1 or ABSENT. */
    static final class BatchModeSet extends Event {
        private final byte code;
        private final long batchMode;

        BatchModeSet(Head head, int code, long batchMode) {
            super(head);
            this.code = (byte) code;
            this.batchMode = batchMode;
        }

        @Override
        int typeCode() {
            return code;
        }

        @Override
        void applyTo(BrokerProcess broker) {
            if (code == EventTypes.BROKER_START) {
                broker.start();
            }
            if (batchMode != ABSENT) {
                broker.setBatchMode(batchMode == 1);
            }
        }

        @Override
        void writePayload(DataOutput out) throws IOException {
            out.writeLong(batchMode);
        }
    }

    /** A limiter was created, or its rate applied again. */
    static final class DispatchRate extends Event {
        final int level;
        final long topicId;
        final long subId;
        final long msgRate;
        final long byteRate;
        final long periodS;
        final boolean relative;
        final boolean classic;

        DispatchRate(
                Head head, int level, long topicId, long subId, long msgRate, long byteRate, long periodS, boolean relative, boolean classic) {
            super(head);
            this.level = level;
            this.topicId = topicId;
            this.subId = subId;
            this.msgRate = msgRate;
            this.byteRate = byteRate;
            this.periodS = periodS;
            this.relative = relative;
            this.classic = classic;
        }

        DispatchRate(Head head, DataInput in) throws IOException {
            this(
                    head, in.readByte(), in.readLong(), in.readLong(), in.readLong(), in.readLong(), in.readLong(), in.readBoolean(),
                    in.readBoolean());
        }

        @Override
        int typeCode() {
            return EventTypes.DISPATCH_RATE;
        }

        @Override
        void applyTo(BrokerProcess broker) {
            broker.dispatchRate(this);
        }

        @Override
        void writePayload(DataOutput out) throws IOException {
            out.writeByte(level);
            writeLongs(out, topicId, subId, msgRate, byteRate, periodS);
            out.writeBoolean(relative);
            out.writeBoolean(classic);
        }
    }

    /** {@code topic_load} or {@code topic_unload}. */
    static final class TopicLife extends Event {
        private final byte code;
        private final long topicId;

        TopicLife(Head head, int code, long topicId) {
            super(head);
            this.code = (byte) code;
            this.topicId = topicId;
        }

        @Override
        int typeCode() {
            return code;
        }

        @Override
        void applyTo(BrokerProcess broker) {
            broker.unloadTopic(topicId, ts, ns);
            if (code == EventTypes.TOPIC_LOAD) {
                broker.loadTopic(topicId);
            }
        }

        @Override
        void writePayload(DataOutput out) throws IOException {
            out.writeLong(topicId);
        }
    }

    /** {@code ledger_open}, {@code ledger_close} (with its totals) or {@code ledger_trim}. */
    static final class LedgerLife extends Event {
        private final byte code;
        private final long topicId;
        private final long ledger;
        private final long entries;
        private final long bytes;

        LedgerLife(Head head, int code, long topicId, long ledger, long entries, long bytes) {
            super(head);
            this.code = (byte) code;
            this.topicId = topicId;
            this.ledger = ledger;
            this.entries = entries;
            this.bytes = bytes;
        }

        @Override
        int typeCode() {
            return code;
        }

        @Override
        void applyTo(BrokerProcess broker) {
            Ledgers ledgers = broker.topic(topicId).ledgers;
            switch (code) {
                case EventTypes.LEDGER_OPEN -> ledgers.meet(ledger);
                case EventTypes.LEDGER_CLOSE -> ledgers.close(ledger, entries, bytes);
                default -> ledgers.trim(ledger);
            }
        }

        @Override
        void writePayload(DataOutput out) throws IOException {
            writeLongs(out, topicId, ledger, entries, bytes);
        }
    }

    /** A cursor at its mark-delete position, {@code entries} behind it individually deleted. */
    static final class CursorOpen extends Event {
        private final long topicId;
        private final long subId;
        private final long ledger;
        private final long entry;
        private final long entries;

        CursorOpen(Head head, long topicId, long subId, long ledger, long entry, long entries) {
            super(head);
            this.topicId = topicId;
            this.subId = subId;
            this.ledger = ledger;
            this.entry = entry;
            this.entries = entries;
        }

        @Override
        int typeCode() {
            return EventTypes.CURSOR_OPEN;
        }

        @Override
        void applyTo(BrokerProcess broker) {
            Subscription subscription = broker.subscription(topicId, subId);
            subscription.position.open(subscription.topic.ledgers, ledger, entry, entries);
        }

        @Override
        void writePayload(DataOutput out) throws IOException {
            writeLongs(out, topicId, subId, ledger, entry, entries);
        }
    }

    /** {@code cursor_close} or {@code dispatcher_close}. */
    static final class SubscriptionEnd extends Event {
        private final byte code;
        private final long topicId;
        private final long subId;

        SubscriptionEnd(Head head, int code, long topicId, long subId) {
            super(head);
            this.code = (byte) code;
            this.topicId = topicId;
            this.subId = subId;
        }

        @Override
        int typeCode() {
            return code;
        }

        @Override
        void applyTo(BrokerProcess broker) {
            Subscription subscription = broker.subscription(topicId, subId);
            if (code == EventTypes.CURSOR_CLOSE) {
                subscription.position.close();
            } else {
                broker.closeDispatcher(subscription, ts, ns);
            }
        }

        @Override
        void writePayload(DataOutput out) throws IOException {
            writeLongs(out, topicId, subId);
        }
    }

    /** A new dispatcher. */
    static final class DispatcherOpen extends Event {
        final long topicId;
        final long subId;
        final int subType;

        DispatcherOpen(Head head, long topicId, long subId, int subType) {
            super(head);
            this.topicId = topicId;
            this.subId = subId;
            this.subType = subType;
        }

        @Override
        int typeCode() {
            return EventTypes.DISPATCHER_OPEN;
        }

        @Override
        void applyTo(BrokerProcess broker) {
            broker.openDispatcher(this);
        }

        @Override
        void writePayload(DataOutput out) throws IOException {
            writeLongs(out, topicId, subId);
            out.writeByte(subType);
        }
    }

    /** {@code consumer_open} or {@code consumer_close}. */
    static final class ConsumerLife extends Event {
        private final byte code;
        private final long topicId;
        private final long subId;
        private final long consumer;
        private final long conn;

        ConsumerLife(Head head, int code, long topicId, long subId, long consumer, long conn) {
            super(head);
            this.code = (byte) code;
            this.topicId = topicId;
            this.subId = subId;
            this.consumer = consumer;
            this.conn = conn;
        }

        @Override
        int typeCode() {
            return code;
        }

        @Override
        void applyTo(BrokerProcess broker) {
            Subscription subscription = broker.subscription(topicId, subId);
            subscription.position.meet(subscription.topic.ledgers);
            if (code == EventTypes.CONSUMER_OPEN) {
                subscription.position.consumerOpened();
                broker.connections.openConsumer(conn, consumer, subscription);
            } else {
                subscription.position.consumerClosed(subscription.topic.ledgers);
                broker.connections.closeConsumer(conn, consumer);
            }
        }

        @Override
        void writePayload(DataOutput out) throws IOException {
            writeLongs(out, topicId, subId, consumer, conn);
        }
    }

    /** An entry was persisted. */
    static final class Publish extends Event {
        private final long topicId;
        private final long ledger;
        private final long entry;
        private final long bytes;

        Publish(Head head, long topicId, long ledger, long entry, long bytes) {
            super(head);
            this.topicId = topicId;
            this.ledger = ledger;
            this.entry = entry;
            this.bytes = bytes;
        }

        @Override
        int typeCode() {
            return EventTypes.PUBLISH;
        }

        @Override
        void applyTo(BrokerProcess broker) {
            Ledgers ledgers = broker.topic(topicId).ledgers;
            Ledgers.Ledger open = ledgers.meet(ledger);
            if (entry >= open.entries) {
                ledgers.grow(open, entry + 1 - open.entries, bytes);
            }
        }

        @Override
        void writePayload(DataOutput out) throws IOException {
            writeLongs(out, topicId, ledger, entry, bytes);
        }
    }

    /** One evaluation of the read limits. */
    static final class Read extends Event {
        final long topicId;
        final long subId;
        final boolean onePermit;
        final long wantMsgs;
        final long wantBytes;
        /** Bit {@code level} is set if the log has an answer of the level. */
        final int answered;
        /** At 2·level + dimension; −1 where absent. Null if no level answered. */
        final long[] answers;
        final long leftMsgs;
        final long leftBytes;
        final long askedNs;

        Read(
                Head head, long topicId, long subId, boolean onePermit, long wantMsgs, long wantBytes, int answered, long[] answers,
                long leftMsgs, long leftBytes, long askedNs) {
            super(head);
            this.topicId = topicId;
            this.subId = subId;
            this.onePermit = onePermit;
            this.wantMsgs = wantMsgs;
            this.wantBytes = wantBytes;
            this.answered = answered;
            this.answers = answers;
            this.leftMsgs = leftMsgs;
            this.leftBytes = leftBytes;
            this.askedNs = askedNs;
        }

        Read(Head head, DataInput in) throws IOException {
            super(head);
            topicId = in.readLong();
            subId = in.readLong();
            onePermit = in.readBoolean();
            wantMsgs = in.readLong();
            wantBytes = in.readLong();
            leftMsgs = in.readLong();
            leftBytes = in.readLong();
            askedNs = in.readLong();
            answered = in.readByte();
            answers = answered == 0 ? null : new long[2 * Level.COUNT];
            for (int k = 0; answers != null && k < answers.length; k++) {
                answers[k] = in.readLong();
            }
        }

        @Override
        int typeCode() {
            return EventTypes.READ;
        }

        @Override
        void applyTo(BrokerProcess broker) {
            broker.read(this);
        }

        @Override
        void writePayload(DataOutput out) throws IOException {
            writeLongs(out, topicId, subId);
            out.writeBoolean(onePermit);
            writeLongs(out, wantMsgs, wantBytes, leftMsgs, leftBytes, askedNs);
            out.writeByte(answered);
            if (answers != null) {
                writeLongs(out, answers);
            }
        }
    }

    /** One delivery to consumers. */
    static final class Dispatch extends Event {
        final long topicId;
        final long subId;
        final long entries;
        final long msgs;
        final long bytes;
        final boolean charged;

        Dispatch(Head head, long topicId, long subId, long entries, long msgs, long bytes, boolean charged) {
            super(head);
            this.topicId = topicId;
            this.subId = subId;
            this.entries = entries;
            this.msgs = msgs;
            this.bytes = bytes;
            this.charged = charged;
        }

        Dispatch(Head head, DataInput in) throws IOException {
            this(head, in.readLong(), in.readLong(), in.readLong(), in.readLong(), in.readLong(), in.readBoolean());
        }

        @Override
        int typeCode() {
            return EventTypes.DISPATCH;
        }

        @Override
        void applyTo(BrokerProcess broker) {
            broker.dispatch(this);
        }

        @Override
        void writePayload(DataOutput out) throws IOException {
            writeLongs(out, topicId, subId, entries, msgs, bytes);
            out.writeBoolean(charged);
        }
    }

    /** The mark-delete position moved. */
    static final class MarkDelete extends Event {
        private final long topicId;
        private final long subId;
        private final long ledger;
        private final long entry;
        private final boolean persisted;
        private final boolean reset;

        MarkDelete(Head head, long topicId, long subId, long ledger, long entry, boolean persisted, boolean reset) {
            super(head);
            this.topicId = topicId;
            this.subId = subId;
            this.ledger = ledger;
            this.entry = entry;
            this.persisted = persisted;
            this.reset = reset;
        }

        @Override
        int typeCode() {
            return EventTypes.MARK_DELETE;
        }

        @Override
        void applyTo(BrokerProcess broker) {
            Subscription subscription = broker.subscription(topicId, subId);
            Ledgers ledgers = subscription.topic.ledgers;
            subscription.position.meet(ledgers);
            if (!persisted) {
                subscription.position.markDelete(ledgers, ledger, entry, reset);
            }
        }

        @Override
        void writePayload(DataOutput out) throws IOException {
            writeLongs(out, topicId, subId, ledger, entry);
            out.writeBoolean(persisted);
            out.writeBoolean(reset);
        }
    }

    /** {@code conn_open} or {@code conn_close}: either way a connection of that id that is still there is gone. */
    static final class ConnectionLife extends Event {
        private final byte code;
        private final long conn;

        ConnectionLife(Head head, int code, long conn) {
            super(head);
            this.code = (byte) code;
            this.conn = conn;
        }

        @Override
        int typeCode() {
            return code;
        }

        @Override
        void applyTo(BrokerProcess broker) {
            broker.connections.close(conn);
        }

        @Override
        void writePayload(DataOutput out) throws IOException {
            out.writeLong(conn);
        }
    }

    /** The channel crossed a water mark. */
    static final class Writability extends Event {
        private final long conn;
        private final boolean writable;

        Writability(Head head, long conn, boolean writable) {
            super(head);
            this.conn = conn;
            this.writable = writable;
        }

        @Override
        int typeCode() {
            return EventTypes.WRITABILITY;
        }

        @Override
        void applyTo(BrokerProcess broker) {
            broker.connections.setWritable(conn, writable);
        }

        @Override
        void writePayload(DataOutput out) throws IOException {
            out.writeLong(conn);
            out.writeBoolean(writable);
        }
    }
}
