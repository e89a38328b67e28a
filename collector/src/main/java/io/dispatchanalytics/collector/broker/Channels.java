package io.dispatchanalytics.collector.broker;

import io.dispatchanalytics.collector.log.Event;
import io.dispatchanalytics.collector.log.EventQueue;
import io.dispatchanalytics.collector.log.Fragments;
import io.netty.channel.Channel;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.apache.pulsar.broker.service.ServerCnx;
import org.apache.pulsar.common.api.proto.BaseCommand;
import org.apache.pulsar.utils.TimedSingleThreadRateLimiter;

/** Connections: their write buffers and why the broker does not read from them. */
public final class Channels {
    private static final Fragments THROTTLE_TYPES = new Fragments("throttle_type");
    private static final Fragments COMMANDS = new Fragments("command");

    private final EventQueue queue;
    private final Connections connections;

    Channels(EventQueue queue, Connections connections) {
        this.queue = queue;
        this.connections = connections;
    }

    /** A connection is there; a refused one never is. */
    public void opened(ServerCnx connection) {
        if (connection.ctx() != null) {
            connections.of(connection);
        }
    }

    /** A connection is gone. */
    public void closed(ServerCnx connection) {
        connections.close(connection);
    }

    /** The channel reports whether it is writable, before the broker does anything about it. Twice alike is possible. */
    public void writability(ServerCnx connection, Channel channel) {
        long number = connections.of(connection);
        queue.put(Event.of(Fields.WRITABILITY).number(Fields.CONN, number).flag(Fields.WRITABLE, channel.isWritable())
                .number(Fields.PENDING_BYTES, Connections.pendingBytes(channel)));
    }

    /** A reason to stop reading was set or cleared. */
    public void throttled(ServerCnx connection, Object type, boolean on) {
        long number = connections.of(connection);
        queue.put(Event.of(Fields.THROTTLE).number(Fields.CONN, number).with(THROTTLE_TYPES.of(type.toString()))
                .flag(Fields.ON, on));
    }

    /** A request comes in, which the cooldown limiter counts while it is open. */
    public void request(ServerCnx connection, TimedSingleThreadRateLimiter limiter, BaseCommand command) {
        BaseCommand.Type type = command.getType();
        boolean counts = type != BaseCommand.Type.PING && type != BaseCommand.Type.PONG;
        if (counts && System.currentTimeMillis() <= (long) Cooldown.OPEN_UNTIL_MS.get(limiter)) {
            long number = connections.of(connection);
            queue.put(Event.of(Fields.REQUEST).number(Fields.CONN, number).with(COMMANDS.of(type.name())));
        }
    }

    /** By itself: a broker without a cooldown has no such class, and all other events. */
    private static final class Cooldown {
        static final VarHandle OPEN_UNTIL_MS = openUntil();

        private static VarHandle openUntil() {
            try {
                return MethodHandles.privateLookupIn(TimedSingleThreadRateLimiter.class, MethodHandles.lookup())
                        .findVarHandle(TimedSingleThreadRateLimiter.class, "closeAfterAtMs", long.class);
            } catch (ReflectiveOperationException other) {
                throw new IllegalStateException("this broker's cooldown limiter has no field closeAfterAtMs", other);
            }
        }
    }
}
