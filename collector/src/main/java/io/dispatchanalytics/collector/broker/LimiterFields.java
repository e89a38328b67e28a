package io.dispatchanalytics.collector.broker;

import java.lang.reflect.Field;
import org.apache.pulsar.broker.service.persistent.DispatchRateLimiter;
import org.apache.pulsar.broker.service.persistent.PersistentTopic;

/** What a limiter is of. Its fields are protected; hooks inside of it see them, a snapshot from outside does not. */
record LimiterFields(Object type, PersistentTopic of, String topic, String sub) {

    static LimiterFields of(DispatchRateLimiter limiter) {
        return new LimiterFields(read(limiter, "type"), (PersistentTopic) read(limiter, "topic"), (String) read(limiter, "topicName"), (String) read(limiter, "subscriptionName"));
    }

    private static Object read(DispatchRateLimiter limiter, String name) {
        try {
            Field field = DispatchRateLimiter.class.getDeclaredField(name);
            field.setAccessible(true);
            return field.get(limiter);
        } catch (ReflectiveOperationException other) {
            throw new IllegalStateException("this broker's limiters have no field " + name, other);
        }
    }
}
