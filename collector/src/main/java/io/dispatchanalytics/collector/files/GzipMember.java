package io.dispatchanalytics.collector.files;

import java.util.zip.CRC32;
import java.util.zip.Deflater;

/**
 * Lines as one whole gzip member. A file is a row of members, which every reader of gzip takes for one text.
 *
 * A member is whole or it is not there: that is how a file is cut back after a crash or on a full disk without
 * writing it anew.
 *
 * Gzip, because Java has it: zstd written in Java took a third more time for these lines, and zstd in C cannot be
 * relocated into an agent.
 */
final class GzipMember {
    static final byte[] HEADER = {0x1f, (byte) 0x8b, 8, 0, 0, 0, 0, 0, 0, (byte) 0xff};
    static final int TRAILER_BYTES = 8;

    /** The quickest level: a third larger than the best, at a fifth of the time. */
    private final Deflater deflater = new Deflater(Deflater.BEST_SPEED, true);
    private byte[] member = new byte[1 << 16];
    private int length;

    /** Compresses; the result is in array() and length(). */
    void compress(byte[] lines, int count) {
        System.arraycopy(HEADER, 0, member, 0, HEADER.length);
        length = HEADER.length;
        deflater.reset();
        deflater.setInput(lines, 0, count);
        deflater.finish();
        while (!deflater.finished()) {
            makeRoom(1 << 14);
            length += deflater.deflate(member, length, member.length - length);
        }
        CRC32 crc = new CRC32();
        crc.update(lines, 0, count);
        makeRoom(TRAILER_BYTES);
        putInt((int) crc.getValue());
        putInt(count);
    }

    private void putInt(int value) {
        for (int shift = 0; shift < Integer.SIZE; shift += Byte.SIZE) {
            member[length++] = (byte) (value >>> shift);
        }
    }

    private void makeRoom(int count) {
        if (member.length - length < count) {
            member = java.util.Arrays.copyOf(member, member.length * 2);
        }
    }

    byte[] array() {
        return member;
    }

    int length() {
        return length;
    }
}
