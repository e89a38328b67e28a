package io.dispatchanalytics.collector.broker;

import io.dispatchanalytics.collector.log.Event;
import io.dispatchanalytics.collector.log.EventQueue;
import io.dispatchanalytics.collector.log.Json;
import io.dispatchanalytics.collector.names.Names;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.bookkeeper.mledger.ManagedLedger;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.impl.AckSetStateUtil;
import org.apache.pulsar.broker.service.Consumer;
import org.apache.pulsar.broker.service.Topic;
import org.apache.pulsar.broker.service.persistent.DispatchRateLimiter;
import org.apache.pulsar.common.api.proto.MessageMetadata;
import org.apache.pulsar.common.protocol.Commands;

/** Messages on their way: entries persisted, deliveries, acknowledgements. The busiest events. */
public final class Traffic {
    private static final byte[] NOT_CHARGED = ",\"charged\":false".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] INDIVIDUAL = Json.field("ack_type", "individual");
    private static final byte[] CUMULATIVE = Json.field("ack_type", "cumulative");
    private static final byte[] PART_OF_A_BATCH = ",\"batch_index\":-1".getBytes(StandardCharsets.US_ASCII);
    private static final String NOBODY = "dispatch-collector";

    private final EventQueue queue;
    private final Topics topics;
    private final Connections connections;
    private final Shares shares;
    /** The consumer whose acknowledgement this thread handles; what the broker acknowledges itself has none. */
    private final ThreadLocal<long[]> acking = ThreadLocal.withInitial(() -> new long[] {-1});

    Traffic(EventQueue queue, Topics topics, Connections connections, Shares shares) {
        this.queue = queue;
        this.topics = topics;
        this.connections = connections;
        this.shares = shares;
    }

    /** An entry is persisted. */
    public void published(ManagedLedger ledger, long ledgerId, long entry, long bytes, ByteBuf data) {
        LoadedTopic topic = topics.of(ledger);
        if (topic == null) {
            return;
        }
        // It reads the buffer's head and puts its index back.
        MessageMetadata metadata = Commands.peekMessageMetadata(data, NOBODY, -1);
        long messages = metadata == null ? 1 : metadata.getNumMessagesInBatch();
        long publishedMs = metadata == null ? System.currentTimeMillis() : metadata.getPublishTime();
        queue.put(Event.of(Fields.PUBLISH).with(topic.fragment).number(Fields.LEDGER, ledgerId).number(Fields.ENTRY, entry)
                .number(Fields.MSGS, messages).number(Fields.BYTES, bytes).number(Fields.PUBLISH_TS, publishedMs));
    }

    /** A delivery, before limiters are charged for it. */
    public void dispatched(Topic topic, String sub, DispatchRateLimiter ofSub, long entries, long msgs, long bytes, boolean charged) {
        LoadedTopic loaded = topics.of(topic.getName());
        byte[] fragment = loaded != null ? loaded.sub(sub).fragment : ofSystem(topic, sub, ofSub);
        if (fragment == null || entries == 0 && msgs == 0 && bytes == 0) {
            return;
        }
        List<Share> parts = shares.of(msgs, bytes);
        if (parts.size() > 1) {
            for (Share part : parts) {
                queue.put(part.span(to(part.consumer, sized(Fields.DISPATCH_SHARE, fragment, part.entries(), part.msgs, part.bytes))));
            }
        }
        Event event = sized(Fields.DISPATCH, fragment, entries, msgs, bytes);
        whole(event, parts);
        queue.put(charged ? event : event.with(NOT_CHARGED));
    }

    private static Event sized(byte[] type, byte[] fragment, long entries, long msgs, long bytes) {
        return Event.of(type).with(fragment).number(Fields.ENTRIES, entries).number(Fields.MSGS, msgs).number(Fields.BYTES, bytes);
    }

    private Event to(Consumer consumer, Event event) {
        return consumer.cnx() == null ? event
                : event.number(Fields.CONN, connections.of(consumer.cnx())).number(Fields.CONSUMER, consumer.consumerId());
    }

    private void whole(Event event, List<Share> parts) {
        if (parts.isEmpty()) {
            return;
        }
        Share all = parts.get(0);
        for (int at = 1; at < parts.size(); at++) {
            all.unite(parts.get(at));
        }
        all.span(parts.size() == 1 ? to(all.consumer, event) : event.number(Fields.CONSUMERS, parts.size()));
    }

    private byte[] ofSystem(Topic topic, String sub, DispatchRateLimiter ofSub) {
        boolean draws = Names.isOfSystem(topic.getName()) && (hasRate(ofSub)
                || hasRate(topic.getBrokerDispatchRateLimiter().orElse(null)) || hasRate(topic.getDispatchRateLimiter().orElse(null)));
        return draws ? topics.fragment(topic.getName(), sub) : null;
    }

    private static boolean hasRate(DispatchRateLimiter limiter) {
        return limiter != null && limiter.isDispatchRateLimitingEnabled();
    }

    /** This thread handles acknowledgements of this consumer. */
    public void ackingFor(long consumer) {
        acking.get()[0] = consumer;
    }

    /** It does no more. */
    public void ackingEnded() {
        acking.get()[0] = -1;
    }

    /** Positions are acknowledged, before they are applied to the cursor. */
    public void acked(String topicName, String sub, List<Position> positions, boolean cumulative) {
        LoadedTopic topic = topics.of(topicName);
        long consumer = acking.get()[0];
        if (topic == null) {
            return;
        }
        byte[] fragment = topic.sub(sub).fragment;
        for (int at = 0; at < positions.size(); at++) {
            Position position = positions.get(at);
            // Without a consumer the broker acknowledges: markers, filtered entries, a transaction that is committed.
            Event event = consumer < 0 ? Event.of(Fields.BROKER_ACK).with(fragment)
                    : Event.of(Fields.ACK).with(fragment).number(Fields.CONSUMER, consumer);
            event.with(cumulative ? CUMULATIVE : INDIVIDUAL).number(Fields.LEDGER, position.getLedgerId()).number(Fields.ENTRY, position.getEntryId());
            long[] left = AckSetStateUtil.getAckSetArrayOrNull(position);
            queue.put(isPart(left) ? event.with(PART_OF_A_BATCH).numbers(Fields.ACK_SET, left) : event);
        }
    }

    /** Whether what this thread acknowledges is the broker's own doing. */
    public boolean isBrokersOwn() {
        return acking.get()[0] < 0;
    }

    /** Bits that are set are messages that stay. */
    private static boolean isPart(long[] left) {
        if (left != null) {
            for (long word : left) {
                if (word != 0) {
                    return true;
                }
            }
        }
        return false;
    }
}
