package io.dispatchanalytics.collector;

/**
 * Faults made on purpose, to prove on a real broker that the broker goes on. Nobody else sets these system properties:
 * `dispatchcollector.test.broken_point=NAME` (a hook that fails; `all` for every one) and
 * `dispatchcollector.test.write_delay_ms=N` (a slow disk).
 */
public final class TestFaults {
    private static final String BROKEN_POINT = System.getProperty("dispatchcollector.test.broken_point");
    private static final long WRITE_DELAY_MS = Long.getLong("dispatchcollector.test.write_delay_ms", 0);

    private TestFaults() { }

    /** Fails in the place of a bug in the hooks of this point. */
    public static void at(String point) {
        if (BROKEN_POINT != null && (BROKEN_POINT.equals(point) || BROKEN_POINT.equals("all"))) {
            throw new IllegalStateException("a fault for a test at " + point);
        }
    }

    /** Waits in the place of a slow disk. */
    public static void onWrite() {
        if (WRITE_DELAY_MS > 0) {
            java.util.concurrent.locks.LockSupport.parkNanos(WRITE_DELAY_MS * 1_000_000L);
        }
    }
}
