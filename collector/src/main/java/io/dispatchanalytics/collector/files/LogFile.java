package io.dispatchanalytics.collector.files;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** The file that is being written. After every call it holds whole members only, or says by an exception that it may not. */
final class LogFile implements Closeable {
    final Path path;
    private final FileChannel channel;
    private long wholeBytes;

    /** Opens a new file. */
    LogFile(Path path) throws IOException {
        this.path = path;
        channel = FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    }

    /** Appends a member. If that fails the file is cut back to what it was, which needs no room on the disk. */
    void append(byte[] member, int length) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(member, 0, length);
        try {
            // A member that could not be cut off before must not stay in front of this one.
            channel.truncate(wholeBytes).position(wholeBytes);
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
        } catch (IOException fault) {
            cutBack(fault);
            throw fault;
        }
        wholeBytes += length;
    }

    private void cutBack(IOException fault) {
        try {
            channel.truncate(wholeBytes);
        } catch (IOException second) {
            fault.addSuppressed(second);
        }
    }

    long bytes() {
        return wholeBytes;
    }

    /** Everything is on the disk when this returns. */
    void force() throws IOException {
        channel.truncate(wholeBytes);
        channel.force(false);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
