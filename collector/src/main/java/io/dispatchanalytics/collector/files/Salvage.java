package io.dispatchanalytics.collector.files;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/** Cuts a file that a crash left behind to its whole members. */
final class Salvage {
    private static final byte NEW_LINE = '\n';

    private final byte[] compressed = new byte[1 << 16];
    private final byte[] lines = new byte[1 << 16];

    /** How many whole lines are left. */
    long cut(Path file) throws IOException {
        long whole = 0;
        long events = 0;
        try (InputStream stream = new BufferedInputStream(Files.newInputStream(file), compressed.length)) {
            for (Member next = member(stream); next != null; next = member(stream)) {
                whole += next.bytes;
                events += next.lines;
            }
        }
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(whole).force(true);
        }
        return events;
    }

    private record Member(long bytes, long lines) { }

    /** The next member, or null if it is not whole. */
    private Member member(InputStream stream) throws IOException {
        byte[] header = stream.readNBytes(GzipMember.HEADER.length);
        if (!Arrays.equals(header, GzipMember.HEADER)) {
            return null;
        }
        Inflater inflater = new Inflater(true);
        CRC32 crc = new CRC32();
        long count = 0;
        try {
            while (!inflater.finished()) {
                if (inflater.needsInput() && !feed(inflater, stream)) {
                    return null;
                }
                int made = inflater.inflate(lines);
                crc.update(lines, 0, made);
                count += newLines(made);
            }
            // What the inflater did not need belongs to the trailer.
            stream.reset();
            stream.skipNBytes(consumed(inflater));
            byte[] trailer = stream.readNBytes(GzipMember.TRAILER_BYTES);
            if (trailer.length < GzipMember.TRAILER_BYTES || number(trailer) != crc.getValue()) {
                return null;
            }
            return new Member(GzipMember.HEADER.length + inflater.getBytesRead() + GzipMember.TRAILER_BYTES, count);
        } catch (DataFormatException damaged) {
            return null;
        } finally {
            inflater.end();
        }
    }

    private long fedBefore;

    private boolean feed(Inflater inflater, InputStream stream) throws IOException {
        fedBefore = inflater.getBytesRead();
        stream.mark(compressed.length);
        int count = stream.read(compressed);
        if (count > 0) {
            inflater.setInput(compressed, 0, count);
        }
        return count > 0;
    }

    private long consumed(Inflater inflater) {
        return inflater.getBytesRead() - fedBefore;
    }

    private long newLines(int count) {
        long found = 0;
        for (int at = 0; at < count; at++) {
            found += lines[at] == NEW_LINE ? 1 : 0;
        }
        return found;
    }

    private static long number(byte[] littleEndian) {
        long value = 0;
        for (int at = Integer.BYTES - 1; at >= 0; at--) {
            value = value << Byte.SIZE | littleEndian[at] & 0xff;
        }
        return value;
    }
}
