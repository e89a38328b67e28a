package io.dispatchanalytics.collector;

import io.dispatchanalytics.collector.broker.Recorder;
import java.util.concurrent.locks.LockSupport;

/** Writes a heartbeat once a second. A thread of its own: the writer may be waiting for a disk. */
final class Clock implements Runnable {
    private static final long PERIOD_NS = 1_000_000_000L;

    private final Recorder recorder;

    Clock(Recorder recorder) {
        this.recorder = recorder;
    }

    @Override
    public void run() {
        long nextNs = System.nanoTime() + PERIOD_NS;
        while (!recorder.queue.isClosed()) {
            LockSupport.parkNanos(nextNs - System.nanoTime());
            long nowNs = System.nanoTime();
            if (nowNs - nextNs >= 0) {
                // After a long pause of the process one heartbeat is enough.
                nextNs = nowNs + PERIOD_NS;
                Collector.guarded("heartbeat", recorder.brokerLife::heartbeat);
                Collector.printFailures();
            }
        }
    }
}
