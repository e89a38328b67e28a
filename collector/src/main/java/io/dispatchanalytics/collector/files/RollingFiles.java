package io.dispatchanalytics.collector.files;

import io.dispatchanalytics.collector.TestFaults;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;

/** Puts batches into files: opens one, finishes it by age and size, and leaves it whole when the disk fails. */
final class RollingFiles {
    private final LogFolder folder;
    private final long rollNs;
    private final long rollBytes;
    private final Runnable starts;
    private final GzipMember member = new GzipMember();
    private final Deque<Closed> toRename = new ArrayDeque<>();
    private LogFile open;
    private long openedNs;
    private long events;

    /** Closed and whole; it has its first name until a rename succeeds. */
    private record Closed(Path path, long events) { }

    RollingFiles(LogFolder folder, long rollNs, long rollBytes, Runnable starts) {
        this.folder = folder;
        this.rollNs = rollNs;
        this.rollBytes = rollBytes;
        this.starts = starts;
    }

    /** The batch is in a file when this returns. When it throws, it is not, and may be tried again. */
    void append(LineBatch batch, long nowNs) throws IOException {
        TestFaults.onWrite();
        member.compress(batch.lines().array(), batch.lines().length());
        if (open == null) {
            open = folder.open(batch.firstSeq());
            openedNs = nowNs;
            starts.run();
        }
        try {
            open.append(member.array(), member.length());
        } catch (IOException fault) {
            // The next try takes a new file: this one may lie on a disk that never comes back.
            giveUp(fault);
            throw fault;
        }
        events += batch.count();
    }

    private void giveUp(IOException fault) {
        try {
            finish();
        } catch (IOException second) {
            fault.addSuppressed(second);
        }
    }

    boolean isDue(long nowNs) {
        return open != null && (nowNs - openedNs >= rollNs || open.bytes() >= rollBytes) || !toRename.isEmpty();
    }

    /** Closes the open file and gives it its final name; also those that could not be renamed before. */
    void finish() throws IOException {
        if (open != null) {
            LogFile last = open;
            open = null;
            toRename.add(new Closed(last.path, events));
            events = 0;
            try (last) {
                last.force();
            }
        }
        while (!toRename.isEmpty()) {
            Closed next = toRename.peek();
            if (next.events == 0) {
                Files.deleteIfExists(next.path);
            } else {
                folder.finish(next.path, next.events);
            }
            toRename.remove();
        }
    }
}
