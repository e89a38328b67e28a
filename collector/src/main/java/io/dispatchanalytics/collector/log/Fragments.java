package io.dispatchanalytics.collector.log;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Fields of one key with values of a small set, each made once: `,"key":"value"`. */
public final class Fragments {
    private final String key;
    private final Map<String, byte[]> made = new ConcurrentHashMap<>();

    /** For this key. */
    public Fragments(String key) {
        this.key = key;
    }

    /** With this value. */
    public byte[] of(String value) {
        byte[] known = made.get(value);
        return known != null ? known : made.computeIfAbsent(value, each -> Json.field(key, each));
    }
}
