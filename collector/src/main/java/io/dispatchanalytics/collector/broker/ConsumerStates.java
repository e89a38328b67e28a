package io.dispatchanalytics.collector.broker;

import io.dispatchanalytics.collector.log.Event;
import io.dispatchanalytics.collector.log.EventQueue;
import io.dispatchanalytics.collector.names.Names;
import java.util.Arrays;
import java.util.Map;
import java.util.WeakHashMap;
import org.apache.pulsar.broker.service.Consumer;

/** `consumer_state`: what the broker holds of a consumer. */
final class ConsumerStates {
    private static final byte[][] NUMBERS = {
        Fields.CONN, Fields.CONSUMER, Fields.PERMITS, Fields.UNACKED_MSGS, Fields.OUT_MSGS, Fields.REDELIVERED_MSGS, Fields.ACKED_MSGS,
    };
    private static final byte[][] FLAGS = {Fields.BLOCKED};

    private final EventQueue queue;
    private final Connections connections;
    private final Names names;
    /** As they were written last; a consumer that is gone goes from here, too. */
    private final Map<Consumer, long[]> written = new WeakHashMap<>();

    ConsumerStates(EventQueue queue, Connections connections, Names names) {
        this.queue = queue;
        this.connections = connections;
        this.names = names;
    }

    /** Writes it; without `all` only where it has changed. */
    void write(Sub sub, Consumer consumer, boolean all, long asOfSeq) {
        if (consumer.cnx() == null) {
            return;
        }
        Reading reading = new Reading(NUMBERS, FLAGS, into -> read(consumer, into));
        long[] values = reading.values();
        if (all || !Arrays.equals(values, written.get(consumer))) {
            written.put(consumer, values);
            Event event = Event.of(Fields.CONSUMER_STATE).with(sub.fragment).number(Fields.AS_OF_SEQ, asOfSeq);
            queue.put(TopicLife.who(reading.to(event, values), consumer, names));
        }
    }

    private void read(Consumer consumer, long[] into) {
        into[0] = connections.of(consumer.cnx());
        into[1] = consumer.consumerId();
        into[2] = consumer.getAvailablePermits();
        into[3] = consumer.getUnackedMessages();
        into[4] = consumer.getMsgOutCounter();
        into[5] = consumer.getMessageRedeliverCounter();
        into[6] = consumer.getMessageAckCounter();
        into[7] = consumer.isBlocked() ? 1 : 0;
    }
}
