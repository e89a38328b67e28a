package io.dispatchanalytics.collector.hooks;

import io.dispatchanalytics.collector.Collector;
import io.dispatchanalytics.collector.TestFaults;
import io.netty.channel.ChannelHandlerContext;
import net.bytebuddy.asm.Advice;
import org.apache.pulsar.broker.service.ServerCnx;
import org.apache.pulsar.common.api.proto.BaseCommand;
import org.apache.pulsar.utils.TimedSingleThreadRateLimiter;

/** Connections. All of these run on the connection's own event loop. */
public final class ChannelHooks {
    private ChannelHooks() { }

    /** A connection is there. */
    public static final class Open {
        private Open() { }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class)
        public static void exit(@Advice.This Object connection) {
            opened(connection);
        }
    }

    /** A connection is gone, and its producers and consumers before it. */
    public static final class Close {
        private Close() { }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        public static void exit(@Advice.This Object connection) {
            closed(connection);
        }
    }

    /** The channel crossed a water mark. */
    public static final class Writability {
        private Writability() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static void enter(@Advice.This Object connection, @Advice.Argument(0) Object context) {
            writability(connection, context);
        }
    }

    /** A reason to stop reading was set. */
    public static final class ThrottleOn {
        private ThrottleOn() { }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class)
        public static void exit(@Advice.FieldValue("serverCnx") Object connection, @Advice.Argument(0) Object type, @Advice.Return Object result) {
            throttled(connection, type, result, true);
        }
    }

    /** A reason to stop reading was cleared. */
    public static final class ThrottleOff {
        private ThrottleOff() { }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class)
        public static void exit(@Advice.FieldValue("serverCnx") Object connection, @Advice.Argument(0) Object type, @Advice.Return Object result) {
            throttled(connection, type, result, false);
        }
    }

    /** A request comes in. */
    public static final class Request {
        private Request() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static void enter(@Advice.This Object connection, @Advice.FieldValue("pauseReceivingRequestsIfUnwritable") boolean pauses,
                @Advice.FieldValue("pauseReceivingCooldownMilliSeconds") int cooldownMs, @Advice.FieldValue("requestRateLimiter") Object limiter,
                @Advice.Argument(0) Object command) {
            if (pauses && cooldownMs > 0) {
                requested(connection, limiter, command);
            }
        }
    }

    /** Called by what is woven. */
    public static void opened(Object connection) {
        TestFaults.at("conn_open");
        Collector.recorder().channels.opened((ServerCnx) connection);
    }

    /** Called by what is woven. */
    public static void closed(Object connection) {
        TestFaults.at("conn_close");
        Collector.recorder().channels.closed((ServerCnx) connection);
    }

    /** Called by what is woven. */
    public static void writability(Object connection, Object context) {
        TestFaults.at("writability");
        Collector.recorder().channels.writability((ServerCnx) connection, ((ChannelHandlerContext) context).channel());
    }

    /** Called by what is woven. */
    public static void throttled(Object connection, Object type, Object result, boolean on) {
        TestFaults.at("throttle");
        // It was so already.
        if (!"Dropped".equals(result.toString())) {
            Collector.recorder().channels.throttled((ServerCnx) connection, type, on);
        }
    }

    /** Called by what is woven. */
    public static void requested(Object connection, Object limiter, Object command) {
        TestFaults.at("request");
        Collector.recorder().channels.request((ServerCnx) connection, (TimedSingleThreadRateLimiter) limiter, (BaseCommand) command);
    }
}
