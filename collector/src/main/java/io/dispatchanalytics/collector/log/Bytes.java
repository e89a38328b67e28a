package io.dispatchanalytics.collector.log;

import java.util.Arrays;

/** Bytes that grow, with numbers as text. Nothing is allocated once it is large enough. */
public final class Bytes {
    private static final byte[] LOWEST_LONG = "-9223372036854775808".getBytes(java.nio.charset.StandardCharsets.US_ASCII);
    private static final int DIGITS_OF_A_LONG = 20;

    private byte[] content;
    private int length;

    /** Empty, with room for so many. */
    public Bytes(int room) {
        content = new byte[room];
    }

    /** The array behind; valid up to length(), until the next append. */
    public byte[] array() {
        return content;
    }

    /** How many there are. */
    public int length() {
        return length;
    }

    /** Forgets all, or all after a length. */
    public void cutTo(int newLength) {
        length = newLength;
    }

    /** Appends all of these. */
    public Bytes append(byte[] more) {
        return append(more, 0, more.length);
    }

    /** Appends some of these. */
    public Bytes append(byte[] more, int from, int count) {
        makeRoom(count);
        System.arraycopy(more, from, content, length, count);
        length += count;
        return this;
    }

    /** Appends one ASCII character. */
    public Bytes append(char ascii) {
        makeRoom(1);
        content[length++] = (byte) ascii;
        return this;
    }

    /** Appends a number in decimal. */
    public Bytes append(long number) {
        if (number == Long.MIN_VALUE) {
            return append(LOWEST_LONG);
        }
        makeRoom(DIGITS_OF_A_LONG);
        long rest = number;
        if (rest < 0) {
            content[length++] = '-';
            rest = -rest;
        }
        int digits = 1;
        for (long power = 10; digits < 19 && rest >= power; power *= 10) {
            digits++;
        }
        for (int at = length + digits - 1; at >= length; at--) {
            content[at] = (byte) ('0' + rest % 10);
            rest /= 10;
        }
        length += digits;
        return this;
    }

    private void makeRoom(int count) {
        if (content.length - length < count) {
            content = Arrays.copyOf(content, Math.max(content.length * 2, length + count));
        }
    }
}
