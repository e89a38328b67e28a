package io.dispatchanalytics.collector.broker;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.LongAdder;
import org.apache.pulsar.broker.qos.AsyncTokenBucket;
import org.apache.pulsar.common.util.RateLimiter;

/** What is in the books of one dimension of a limiter. The broker answers 0 whatever its debt is; these fields have the debt. */
final class LimiterTokens {
    private LimiterTokens() { }

    /** Right after the limiter answered: what it answered, or below zero its debt. */
    static long after(long answer, Object limiter) {
        // An answer above zero is the balance itself: read later, it might be another thread's.
        return answer > 0 || limiter == null ? answer : Math.min(0, inBooks(limiter));
    }

    /** As of the latest update, which this is none of: asking the limiter itself would be one. */
    static long inBooks(Object limiter) {
        return limiter instanceof AsyncTokenBucket bucket
                ? (long) Bucket.TOKENS.getVolatile(bucket) - ((LongAdder) Bucket.PENDING.get(bucket)).sum()
                : (long) Window.PERMITS.getVolatile((RateLimiter) limiter) - (long) Window.ACQUIRED.getVolatile((RateLimiter) limiter);
    }

    private static VarHandle field(Class<?> of, String name, Class<?> type) {
        try {
            return MethodHandles.privateLookupIn(of, MethodHandles.lookup()).findVarHandle(of, name, type);
        } catch (ReflectiveOperationException other) {
            throw new IllegalStateException("this broker's " + of.getSimpleName() + " has no field " + name, other);
        }
    }

    /** Each kind is looked up when it is met first: a broker has one of them. */
    private static final class Bucket {
        static final VarHandle TOKENS = field(AsyncTokenBucket.class, "tokens", long.class);
        static final VarHandle PENDING = field(AsyncTokenBucket.class, "pendingConsumedTokens", LongAdder.class);
    }

    private static final class Window {
        static final VarHandle PERMITS = field(RateLimiter.class, "permits", long.class);
        static final VarHandle ACQUIRED = field(RateLimiter.class, "acquiredPermits", long.class);
    }
}
