package io.dispatchanalytics.collector.broker;

import io.dispatchanalytics.collector.log.Event;
import io.dispatchanalytics.collector.log.EventQueue;
import java.lang.reflect.Field;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.pulsar.broker.service.persistent.DispatchRateLimiter;
import org.apache.pulsar.common.policies.data.DispatchRate;

/** `limiter_state`: the rate of a limiter, and what is in its books. */
final class LimiterStates {
    private static final String[] BOOKS = {"dispatchRateLimiterOnMessage", "dispatchRateLimiterOnByte"};

    private final EventQueue queue;
    private final Map<Class<?>, Field[]> books = new ConcurrentHashMap<>();

    LimiterStates(EventQueue queue) {
        this.queue = queue;
    }

    /** Writes it, where it has a rate. `of`: `,"topic":…` and `,"sub":…`, as far as its level has them. */
    void write(byte[] level, byte[] of, DispatchRateLimiter limiter, DispatchRate rate, long asOfSeq) {
        if (rate == null || !limiter.isDispatchRateLimitingEnabled()) {
            return;
        }
        Object[] found = booksOf(limiter);
        Event event = Policies.withRate(Event.of(Fields.LIMITER_STATE).with(level).with(of), limiter, rate).number(Fields.AS_OF_SEQ, asOfSeq);
        if (found[0] != null) {
            event.number(Fields.MSGS_TOKENS, LimiterTokens.inBooks(found[0]));
        }
        queue.put(found[1] == null ? event : event.number(Fields.BYTES_TOKENS, LimiterTokens.inBooks(found[1])));
    }

    private Object[] booksOf(DispatchRateLimiter limiter) {
        Field[] fields = books.computeIfAbsent(limiter.getClass(), LimiterStates::fields);
        try {
            return new Object[] {fields[0].get(limiter), fields[1].get(limiter)};
        } catch (IllegalAccessException impossible) {
            throw new IllegalStateException("setAccessible has succeeded", impossible);
        }
    }

    private static Field[] fields(Class<?> limiter) {
        Field[] found = new Field[BOOKS.length];
        for (int at = 0; at < found.length; at++) {
            try {
                found[at] = limiter.getDeclaredField(BOOKS[at]);
                found[at].setAccessible(true);
            } catch (NoSuchFieldException other) {
                throw new IllegalStateException("this broker's limiters have no field " + BOOKS[at], other);
            }
        }
        return found;
    }
}
