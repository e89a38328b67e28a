package io.dispatchanalytics.collector;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Lines for the operator, in the broker's own output. A fault that goes on is reported once a minute, not once an event. */
public final class Notices {
    private static final long QUIET_NS = 60_000_000_000L;
    private static final Map<String, Long> LAST = new ConcurrentHashMap<>();

    private Notices() { }

    /** Prints a line. */
    public static void print(String line) {
        System.err.println("dispatch-collector: " + line);
    }

    /** Prints a line unless one of the same subject was printed within the last minute. */
    public static void printSeldom(String subject, String line) {
        long now = System.nanoTime();
        Long last = LAST.get(subject);
        // A second thread may print its line, too: two lines are better than a lock on an event loop.
        if (last == null || now - last >= QUIET_NS) {
            LAST.put(subject, now);
            print(line);
        }
    }
}
