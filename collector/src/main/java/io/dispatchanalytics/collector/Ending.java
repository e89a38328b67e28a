package io.dispatchanalytics.collector;

import io.dispatchanalytics.collector.files.LogWriter;
import io.dispatchanalytics.collector.log.EventQueue;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The process ends: the broker closes itself meanwhile, and its last events are to be written. */
final class Ending implements Runnable {
    private static final long LOOK_MS = 20;
    /** A broker that has not closed itself by then was not asked to: its log ends as after a crash, but whole. */
    private static final long PATIENCE_MS = TimeUnit.SECONDS.toMillis(60);
    private static final long WRITING_MS = TimeUnit.SECONDS.toMillis(10);

    private final EventQueue queue;
    private final LogWriter writer;
    private final Thread writing;

    Ending(EventQueue queue, LogWriter writer, Thread writing) {
        this.queue = queue;
        this.writer = writer;
        this.writing = writing;
    }

    @Override
    public void run() {
        try {
            awaitBroker();
            writer.stop();
            writing.join(WRITING_MS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        Map<String, Long> failures = Collector.failures();
        Notices.print("ended; " + queue.dropped() + " events were lost" + (failures.isEmpty() ? "" : ", hooks failed: " + failures));
    }

    private void awaitBroker() throws InterruptedException {
        long untilNs = System.nanoTime() + PATIENCE_MS * 1_000_000L;
        while (queue.isBegun() && !queue.isClosed() && System.nanoTime() - untilNs < 0) {
            Thread.sleep(LOOK_MS);
        }
    }
}
