package io.dispatchanalytics.collector.broker;

import io.dispatchanalytics.collector.log.Event;
import io.dispatchanalytics.collector.log.EventQueue;
import io.dispatchanalytics.collector.log.Json;
import io.dispatchanalytics.collector.names.Names;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOutboundBuffer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.pulsar.broker.service.ServerCnx;
import org.apache.pulsar.broker.service.TransportCnx;

/** The open connections and their numbers in the log. A connection that was there before the collector is met at its first event. */
public final class Connections {
    private final EventQueue queue;
    private final Names names;
    private final Map<TransportCnx, Long> numbers = new ConcurrentHashMap<>();
    private final AtomicLong last = new AtomicLong();

    /** None is open. */
    public Connections(EventQueue queue, Names names) {
        this.queue = queue;
        this.names = names;
    }

    /** The number of a connection; a new one is reported as open. */
    public long of(TransportCnx connection) {
        Long known = numbers.get(connection);
        if (known != null) {
            return known;
        }
        // Before the log begins nothing is written, so a number would never be explained.
        return queue.isBegun() ? numbers.computeIfAbsent(connection, this::open) : 0;
    }

    private long open(TransportCnx connection) {
        long number = last.incrementAndGet();
        Event event = Event.of(Fields.CONN_OPEN).number(Fields.CONN, number);
        String remote = names.remote(withoutSlash(connection.clientSourceAddressAndPort()));
        queue.put(remote == null ? event : event.with(Json.field("remote", remote)));
        return number;
    }

    /** Java writes an address that was never a name as `/10.0.0.1:6650`. */
    private static String withoutSlash(String address) {
        return address.substring(address.lastIndexOf('/') + 1);
    }

    /** A connection is gone. */
    public void close(TransportCnx connection) {
        Long number = numbers.remove(connection);
        if (number != null) {
            queue.put(Event.of(Fields.CONN_CLOSE).number(Fields.CONN, number));
        }
    }

    /** Bytes that wait in the write buffers of all connections. */
    long pendingBytes() {
        long sum = 0;
        for (TransportCnx connection : numbers.keySet()) {
            if (connection instanceof ServerCnx server && server.ctx() != null) {
                sum += pendingBytes(server.ctx().channel());
            }
        }
        return sum;
    }

    /** Bytes that wait in the write buffer of a channel: 0 when it is closed. */
    public static long pendingBytes(Channel channel) {
        ChannelOutboundBuffer buffer = channel.unsafe().outboundBuffer();
        return buffer == null ? 0 : buffer.totalPendingWriteBytes();
    }
}
