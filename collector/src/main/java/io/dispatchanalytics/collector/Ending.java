package io.dispatchanalytics.collector;

import io.dispatchanalytics.collector.files.LogWriter;
import io.dispatchanalytics.collector.log.EventQueue;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** The process ends: the broker closes itself meanwhile, and its last events are to be written. */
final class Ending implements Runnable {
    private static final long LOOK_MS = 20;
    /** A broker that has not begun to close itself by then never will: its start failed, say. The process must not wait. */
    private static final long PATIENCE_MS = TimeUnit.SECONDS.toMillis(10);
    /** One that has begun may unload thousands of topics first. Pulsar itself waits no longer than this. */
    private static final long CLOSING_MS = TimeUnit.SECONDS.toMillis(60);
    private static final long WRITING_MS = TimeUnit.SECONDS.toMillis(10);

    private final EventQueue queue;
    private final BooleanSupplier brokerIsEnding;
    private final LogWriter writer;
    private final Thread writing;

    Ending(EventQueue queue, BooleanSupplier brokerIsEnding, LogWriter writer, Thread writing) {
        this.queue = queue;
        this.brokerIsEnding = brokerIsEnding;
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
        long beganNs = System.nanoTime();
        while (queue.isBegun() && !queue.isClosed()) {
            long waitedMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beganNs);
            if (waitedMs > (brokerIsEnding.getAsBoolean() ? CLOSING_MS : PATIENCE_MS)) {
                return;
            }
            Thread.sleep(LOOK_MS);
        }
    }
}
