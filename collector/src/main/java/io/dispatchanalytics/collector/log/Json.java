package io.dispatchanalytics.collector.log;

import java.nio.charset.StandardCharsets;

/** JSON fragments as bytes. Those that do not change are made once and copied. */
public final class Json {
    private Json() { }

    /** `"text"` with what must be escaped, escaped. */
    public static byte[] quoted(String text) {
        StringBuilder quoted = new StringBuilder(text.length() + 2).append('"');
        for (int at = 0; at < text.length(); at++) {
            char each = text.charAt(at);
            if (each == '"' || each == '\\') {
                quoted.append('\\').append(each);
            } else if (each < ' ' || Character.isSurrogate(each)) {
                // A lone surrogate has no UTF-8; as an escape it stays what the broker had.
                quoted.append(String.format("\\u%04x", (int) each));
            } else {
                quoted.append(each);
            }
        }
        return quoted.append('"').toString().getBytes(StandardCharsets.UTF_8);
    }

    /** `,"key":` */
    public static byte[] key(String key) {
        return ("," + new String(quoted(key), StandardCharsets.UTF_8) + ":").getBytes(StandardCharsets.UTF_8);
    }

    /** `,"key":"text"` */
    public static byte[] field(String key, String text) {
        return joined(key(key), quoted(text));
    }

    /** One after the other. */
    public static byte[] joined(byte[] first, byte[] second) {
        byte[] both = new byte[first.length + second.length];
        System.arraycopy(first, 0, both, 0, first.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
    }
}
