package io.dispatchanalytics.collector;

import io.dispatchanalytics.collector.broker.Recorder;
import io.dispatchanalytics.collector.files.LogWriter;
import io.dispatchanalytics.collector.log.EventQueue;
import io.dispatchanalytics.collector.names.Names;
import io.dispatchanalytics.collector.options.BadOption;
import io.dispatchanalytics.collector.options.Options;
import io.dispatchanalytics.collector.points.Point;
import io.dispatchanalytics.collector.points.PointCheck;
import io.dispatchanalytics.collector.points.Points;
import io.dispatchanalytics.collector.points.Weaver;
import java.lang.instrument.Instrumentation;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import net.bytebuddy.dynamic.ClassFileLocator;

/** The agent: puts the collector together, in the broker's process. Whatever is wrong with it, the broker starts. */
public final class CollectorAgent {
    private static final AtomicBoolean RUNS = new AtomicBoolean();

    private CollectorAgent() { }

    /** The agent was named on the broker's command line. */
    public static void premain(String options, Instrumentation instrumentation) {
        start(options, instrumentation, false);
    }

    /** The agent was attached to a broker that runs. */
    public static void agentmain(String options, Instrumentation instrumentation) {
        start(options, instrumentation, true);
    }

    private static void start(String options, Instrumentation instrumentation, boolean attached) {
        try {
            if (!RUNS.compareAndSet(false, true)) {
                Notices.print("not attached: a collector runs in this process already");
                return;
            }
            start(Options.parse(options), instrumentation, attached);
        } catch (BadOption bad) {
            RUNS.set(false);
            Notices.print("error: " + bad.getMessage() + ". The broker runs without the collector");
        } catch (Throwable fault) {
            // Among them a LinkageError of a broker that is too different.
            RUNS.set(false);
            Notices.print("error: cannot start: " + fault + ". The broker runs without the collector");
        }
    }

    private static void start(Options options, Instrumentation instrumentation, boolean attached) throws BadOption {
        long epoch = System.currentTimeMillis();
        EventQueue queue = new EventQueue(options.queueBytes());
        Names names = Names.of(options);
        List<Point> points = attached ? Points.allAndRunning() : Points.all();
        List<String> missing = new PointCheck(ClassFileLocator.ForClassLoader.ofSystemLoader()).missing(Points.all());
        Weaver weaver = new Weaver(points);
        if (!attached) {
            // First: making the recorder loads classes of the broker, which must be woven. No hook runs before main.
            weaver.install(instrumentation);
        }
        Recorder recorder = new Recorder(queue, names, () -> missing, options.flowNs(), options.stateNs());
        Collector.install(recorder);
        if (attached) {
            // Last: hooks run at once.
            weaver.install(instrumentation);
        }
        LogWriter writer = new LogWriter(queue, options, recorder.brokerLife::brokerId, epoch, recorder.states::fileStarts);
        Thread writing = daemon("dispatch-collector-writer", writer);
        daemon("dispatch-collector-clock", new Clock(recorder));
        daemon("dispatch-collector-state", recorder.states);
        Runtime.getRuntime().addShutdownHook(new Thread(new Ending(queue, recorder.brokerLife::isEnding, writer, writing), "dispatch-collector-ending"));
        Notices.print("collects with " + options + (missing.isEmpty() ? "" : "; this broker lacks the points " + missing));
    }

    private static Thread daemon(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }
}
