package io.dispatchanalytics.collector;

import io.dispatchanalytics.collector.broker.Recorder;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** The one collector of this process, for the hooks inside of the broker's classes. Set before the first hook is woven. */
public final class Collector {
    private static volatile Recorder recorder;
    private static final Map<String, LongAdder> FAILURES = new ConcurrentHashMap<>();

    private Collector() { }

    /** What hooks report to. */
    public static Recorder recorder() {
        return recorder;
    }

    static void install(Recorder one) {
        recorder = one;
    }

    /** A hook of this point failed. The broker goes on; its event is lost and counted. Called by what is woven, so it never throws. */
    public static void failed(Throwable fault, String point) {
        try {
            FAILURES.computeIfAbsent(point, each -> new LongAdder()).increment();
            recorder.queue.lose();
            Notices.printSeldom("point " + point, "a hook of " + point + " failed, its event is lost: " + fault + at(fault));
        } catch (Throwable second) {
            // Out of memory, say. Whoever called the broker's method must not learn of it.
        }
    }

    /** Runs what a hook left for later; it fails as the hook would. */
    public static void guarded(String point, Runnable report) {
        try {
            report.run();
        } catch (Throwable fault) {
            failed(fault, point);
        }
    }

    private static String at(Throwable fault) {
        StackTraceElement[] trace = fault.getStackTrace();
        return trace.length == 0 ? "" : " at " + trace[0];
    }

    /** How often hooks failed, by point: printed at the end. */
    static Map<String, Long> failures() {
        Map<String, Long> counts = new TreeMap<>();
        FAILURES.forEach((point, count) -> counts.put(point, count.sum()));
        return counts;
    }
}
