package io.dispatchanalytics.collector;

import io.dispatchanalytics.collector.broker.Recorder;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** The one collector of this process, for the hooks inside of the broker's classes. Set before the first hook is woven. */
public final class Collector {
    private static volatile Recorder recorder;
    private static final Map<String, Failure> FAILURES = new ConcurrentHashMap<>();

    /** How often hooks of one point failed, and why at last. */
    private static final class Failure {
        final LongAdder count = new LongAdder();
        volatile String cause;
        long printed;
    }

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
            count(fault, point);
            recorder.queue.lose();
        } catch (Throwable second) {
            // Out of memory, say. Whoever called the broker's method must not learn of it.
        }
    }

    private static void count(Throwable fault, String point) {
        Failure failure = FAILURES.computeIfAbsent(point, each -> new Failure());
        failure.count.increment();
        if (failure.cause == null) {
            failure.cause = fault + at(fault);
        }
    }

    /** Runs what only looks at the broker. If it fails nothing of what happened is lost: the next look comes. */
    public static void looking(String point, Runnable look) {
        try {
            look.run();
        } catch (Exception fault) {
            count(fault, point);
        } catch (LinkageError other) {
            count(other, point);
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

    /** Prints what failed since the last call. Not where it fails: printing may wait, and an event loop must not. */
    static void printFailures() {
        FAILURES.forEach((point, failure) -> {
            long count = failure.count.sum();
            if (count > failure.printed) {
                failure.printed = count;
                Notices.printSeldom("point " + point, "a hook of " + point + " failed, its event is lost (" + count + " so far): "
                        + failure.cause);
            }
        });
    }

    /** How often hooks failed, by point: printed at the end. */
    static Map<String, Long> failures() {
        Map<String, Long> counts = new TreeMap<>();
        FAILURES.forEach((point, failure) -> counts.put(point, failure.count.sum()));
        return counts;
    }
}
