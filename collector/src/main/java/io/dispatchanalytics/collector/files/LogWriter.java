package io.dispatchanalytics.collector.files;

import io.dispatchanalytics.collector.Notices;
import io.dispatchanalytics.collector.log.EventQueue;
import io.dispatchanalytics.collector.options.Options;
import java.io.IOException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** The one thread that takes events from the queue and writes them. It alone meets the disk, and it alone waits. */
public final class LogWriter implements Runnable {
    /** How often it looks: waking it from an event loop would cost that loop a system call for every event. */
    private static final long LOOK_NS = 10_000_000L;
    private static final long RETRY_NS = 1_000_000_000L;

    private final EventQueue queue;
    private final Options options;
    private final Supplier<String> brokerId;
    private final long epoch;
    private final Runnable fileStarts;
    private volatile boolean stopping;

    private LogFolder folder;
    private RollingFiles files;
    private LineBatch batch;
    private long batchBeganNs;
    private long retryAtNs;
    private boolean failed;

    /** `brokerId` gives null until the broker knows its own address; no file is opened before. `fileStarts` is told of each. */
    public LogWriter(EventQueue queue, Options options, Supplier<String> brokerId, long epoch, Runnable fileStarts) {
        this.queue = queue;
        this.options = options;
        this.brokerId = brokerId;
        this.epoch = epoch;
        this.fileStarts = fileStarts;
    }

    /** Write what is there, then end. */
    public void stop() {
        stopping = true;
    }

    @Override
    public void run() {
        if (!awaitBroker()) {
            return;
        }
        boolean more = true;
        while (more) {
            try {
                more = work(System.nanoTime());
            } catch (RuntimeException | OutOfMemoryError bug) {
                // Such a thing must not end the log for good: the next try may go well.
                failed(System.nanoTime(), bug);
                LockSupport.parkNanos(RETRY_NS);
            }
        }
        countUnwritten();
    }

    /** The process ends while the disk fails: what waits is lost, and the last line of the collector reports it. */
    private void countUnwritten() {
        do {
            queue.count(batch.count());
            batch.clear();
        } while (queue.drain(batch) > 0);
    }

    private boolean awaitBroker() {
        String broker = brokerId.get();
        while (broker == null && !stopping) {
            LockSupport.parkNanos(LOOK_NS);
            broker = brokerId.get();
        }
        if (broker == null) {
            return false;
        }
        folder = new LogFolder(options.folder(), broker, epoch, options.keepBytes());
        files = new RollingFiles(folder, options.rollNs(), options.rollBytes(), fileStarts);
        batch = new LineBatch(broker, epoch);
        try {
            folder.salvage();
        } catch (IOException fault) {
            Notices.print("files of an earlier broker process stay unfinished: " + fault);
        }
        return true;
    }

    /** One look; whether there will be another. */
    private boolean work(long nowNs) {
        boolean last = stopping;
        boolean mayWrite = !failed || nowNs - retryAtNs >= 0 || last;
        if (!batch.isFull()) {
            boolean wasEmpty = batch.isEmpty();
            queue.drain(batch);
            batchBeganNs = wasEmpty ? nowNs : batchBeganNs;
        }
        boolean full = batch.isFull();
        if (mayWrite) {
            write(nowNs, last);
        }
        if (!full || failed) {
            LockSupport.parkNanos(LOOK_NS);
        }
        // On a stop a full batch means that more may wait; a disk that fails now gets no second chance.
        return !last || full && !failed;
    }

    private void write(long nowNs, boolean last) {
        try {
            if (!batch.isEmpty() && (batch.isFull() || last || nowNs - batchBeganNs >= options.flushNs())) {
                files.append(batch, nowNs);
                batch.clear();
            }
            if (files.isDue(nowNs) || last && batch.isEmpty()) {
                files.finish();
                queue.count(folder.keepWithinBound());
            }
            if (failed) {
                failed = false;
                Notices.print("the log is written again to " + options.folder() + "; " + queue.dropped() + " events are lost so far");
            }
        } catch (IOException fault) {
            failed(nowNs, fault);
        }
    }

    private void failed(long nowNs, Throwable fault) {
        failed = true;
        retryAtNs = nowNs + RETRY_NS;
        Notices.printSeldom("write", "cannot write the log to " + options.folder() + ": " + fault
                + "; events wait in memory, " + queue.dropped() + " are lost so far");
    }
}
