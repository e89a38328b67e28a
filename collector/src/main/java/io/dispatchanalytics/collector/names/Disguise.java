package io.dispatchanalytics.collector.names;

import io.dispatchanalytics.collector.options.NameStyle;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Shows one kind of names as the operator wants: as they are, as keyed hashes, or as running numbers. */
final class Disguise {
    private static final String ALGORITHM = "HmacSHA256";
    /** 64 bits: two of a million names collide with a chance of one in thirty million. */
    private static final int HASH_BYTES = 8;

    private final NameStyle style;
    private final SecretKeySpec key;
    private final Map<String, String> numbers = new ConcurrentHashMap<>();
    private final AtomicLong last = new AtomicLong();

    Disguise(NameStyle style, byte[] key) {
        this.style = style;
        this.key = new SecretKeySpec(key, ALGORITHM);
    }

    boolean isPlain() {
        return style == NameStyle.PLAIN;
    }

    boolean isOmitted() {
        return style == NameStyle.OMIT;
    }

    String of(String name) {
        return switch (style) {
            case PLAIN -> name;
            case HASH -> hash(name);
            case OMIT -> numbers.computeIfAbsent(name, each -> Long.toString(last.incrementAndGet()));
        };
    }

    private String hash(String name) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(key);
            return HexFormat.of().formatHex(mac.doFinal(name.getBytes(StandardCharsets.UTF_8)), 0, HASH_BYTES);
        } catch (java.security.GeneralSecurityException impossible) {
            throw new IllegalStateException("every Java has " + ALGORITHM, impossible);
        }
    }
}
