package io.dispatchanalytics.collector.log;

import java.nio.charset.StandardCharsets;

/**
 * The payload of one event as JSON: what follows `"type":`, without the closing brace.
 *
 * Each thread has one and writes it before the queue's lock, so that the lock is held for a copy only.
 */
public final class Event {
    private static final byte[] TRUE = "true".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] FALSE = "false".getBytes(StandardCharsets.US_ASCII);
    private static final ThreadLocal<Event> OF_THREAD = ThreadLocal.withInitial(Event::new);

    private final Bytes payload = new Bytes(512);

    private Event() { }

    /** This thread's event, begun anew with a type (see type()). */
    public static Event of(byte[] type) {
        Event event = OF_THREAD.get();
        event.payload.cutTo(0);
        event.payload.append(type);
        return event;
    }

    /** What of() takes: a type's name, quoted. */
    public static byte[] type(String name) {
        return Json.quoted(name);
    }

    /** Appends fragments that were made before: `,"key":value`. */
    public Event with(byte[] fragment) {
        payload.append(fragment);
        return this;
    }

    /** Appends a number after its key (see Json.key). */
    public Event number(byte[] key, long number) {
        payload.append(key).append(number);
        return this;
    }

    /** Appends a truth value after its key. */
    public Event flag(byte[] key, boolean flag) {
        payload.append(key).append(flag ? TRUE : FALSE);
        return this;
    }

    /** Appends a list of numbers after its key. */
    public Event numbers(byte[] key, long[] numbers) {
        payload.append(key).append('[');
        for (int at = 0; at < numbers.length; at++) {
            if (at > 0) {
                payload.append(',');
            }
            payload.append(numbers[at]);
        }
        payload.append(']');
        return this;
    }

    Bytes payload() {
        return payload;
    }
}
