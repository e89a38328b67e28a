package io.dispatchanalytics.collector.broker;

import io.dispatchanalytics.collector.log.Event;
import io.dispatchanalytics.collector.log.EventQueue;
import io.dispatchanalytics.collector.log.Fragments;
import java.util.Arrays;
import org.apache.bookkeeper.mledger.ManagedCursor;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.impl.ManagedCursorImpl;
import org.apache.pulsar.broker.service.Consumer;
import org.apache.pulsar.broker.service.Dispatcher;
import org.apache.pulsar.broker.service.Replicator;
import org.apache.pulsar.broker.service.persistent.AbstractPersistentDispatcherMultipleConsumers;
import org.apache.pulsar.common.policies.data.DispatchRate;

/** `state`: what the broker holds of a cursor and its dispatcher. */
final class SubStates {
    private static final Fragments TYPES = new Fragments("sub_type");
    private static final Fragments KINDS = new Fragments("cursor_kind");
    private static final byte[][] NUMBERS = {
        Fields.LEDGER, Fields.ENTRY, Fields.READ_LEDGER, Fields.READ_ENTRY, Fields.BACKLOG_ENTRIES, Fields.DELETED_ENTRIES,
        Fields.PERMITS, Fields.UNACKED_MSGS, Fields.CONSUMERS, Fields.DELAYED_ENTRIES, Fields.REPLAY_ENTRIES, Fields.CONN, Fields.CONSUMER,
    };
    private static final byte[][] FLAGS = {Fields.READ_WAITS, Fields.READ_OUT, Fields.REPLAY_OUT, Fields.BLOCKED, Fields.CONNECTED};
    private static final int BACKLOG = 4;
    private static final int FIRST_OF_DISPATCHER = 6;
    private static final int FIRST_FLAG = NUMBERS.length;

    private final EventQueue queue;
    private final Connections connections;

    SubStates(EventQueue queue, Connections connections) {
        this.queue = queue;
        this.connections = connections;
    }

    /** One cursor, and what it is of: each of the others may be null. */
    record Of(Sub sub, ManagedCursor cursor, Dispatcher dispatcher, Replicator replicator, DispatchRate replicatorRate) { }

    /** Writes it; without `all` only where something waits or somebody consumes, or it has changed. Returns whether it did. */
    boolean write(Of of, boolean all, long asOfSeq) {
        Reading reading = new Reading(NUMBERS, FLAGS, into -> read(of, into));
        long[] values = reading.values();
        boolean lives = values[BACKLOG] > 0 || of.dispatcher != null && of.dispatcher.isConsumerConnected();
        if (!all && !lives && Arrays.equals(values, of.sub.state)) {
            return false;
        }
        of.sub.state = values;
        Event event = Event.of(Fields.STATE).with(of.sub.fragment).number(Fields.AS_OF_SEQ, asOfSeq);
        reading.to(event, values).flag(Fields.DURABLE, of.cursor.isDurable()).with(KINDS.of(TopicLife.kindOf(of.cursor)));
        if (of.dispatcher != null) {
            event.with(TYPES.of(of.dispatcher.getType().name()));
        }
        if (of.replicatorRate != null) {
            event.number(Fields.MSG_RATE, of.replicatorRate.getDispatchThrottlingRateInMsg())
                    .number(Fields.BYTE_RATE, of.replicatorRate.getDispatchThrottlingRateInByte());
        }
        queue.put(event);
        return true;
    }

    private void read(Of of, long[] into) {
        Position marked = of.cursor.getMarkDeletedPosition();
        Position read = of.cursor.getReadPosition();
        into[0] = marked.getLedgerId();
        into[1] = marked.getEntryId();
        into[2] = read.getLedgerId();
        into[3] = read.getEntryId();
        into[BACKLOG] = of.cursor.getNumberOfEntriesInBacklog(true);
        long deleted = DeletedEntries.behind(of.cursor.getManagedLedger(), of.cursor, marked);
        into[BACKLOG + 1] = deleted == DeletedEntries.UNKNOWN ? Reading.ABSENT : deleted;
        if (of.cursor instanceof ManagedCursorImpl known) {
            into[FIRST_FLAG] = known.hasPendingReadRequest() ? 1 : 0;
        }
        if (of.dispatcher != null) {
            read(of.dispatcher, into);
        }
        if (of.replicator != null) {
            into[FIRST_FLAG + 4] = of.replicator.isConnected() ? 1 : 0;
        }
    }

    private void read(Dispatcher dispatcher, long[] into) {
        into[FIRST_OF_DISPATCHER] = DispatcherFigures.permits(dispatcher);
        into[FIRST_OF_DISPATCHER + 1] = DispatcherFigures.unacked(dispatcher);
        into[FIRST_OF_DISPATCHER + 2] = dispatcher.getConsumers().size();
        into[FIRST_OF_DISPATCHER + 3] = dispatcher.getNumberOfDelayedMessages();
        into[FIRST_FLAG + 1] = DispatcherFigures.isReadOut(dispatcher);
        if (dispatcher instanceof AbstractPersistentDispatcherMultipleConsumers many) {
            into[FIRST_OF_DISPATCHER + 4] = many.getNumberOfMessagesInReplay();
            into[FIRST_FLAG + 2] = many.isHavePendingReplayRead() ? 1 : 0;
            into[FIRST_FLAG + 3] = many.isBlockedDispatcherOnUnackedMsgs() ? 1 : 0;
        }
        Consumer active = DispatcherFigures.active(dispatcher);
        if (active != null && active.cnx() != null) {
            into[FIRST_OF_DISPATCHER + 5] = connections.of(active.cnx());
            into[FIRST_OF_DISPATCHER + 6] = active.consumerId();
        }
    }
}
