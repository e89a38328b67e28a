package peers.rules;

/** One epoch's time: which window is open, when it closes, what the wall clock did. Times are µs on {@code ts}, ns on {@code ns}. */
final class EpochTime {
    private static final long NEVER = Long.MIN_VALUE;

    private final long epoch;
    private final Settings settings;
    private final BrokerProcess broker;
    private boolean started;
    private long firstNs;
    private long lastTs;
    private long lastNs;
    private long timeUs = NEVER;
    private int clockSegment;
    private long windowUs = NEVER;
    private int windowSegment;

    EpochTime(long brokerId, long epoch, Settings settings) {
        this.epoch = epoch;
        this.settings = settings;
        this.broker = new BrokerProcess(brokerId);
    }

    /** Applies the next event in the order of {@code seq}. */
    void apply(Event event, Outcomes out) {
        if (!started) {
            started = true;
            firstNs = event.ns;
            lastTs = event.ts;
            lastNs = event.ns;
        }
        long jumpUs = event.ts - lastTs - Math.floorDiv(event.ns - lastNs, 1000);
        if (Math.abs(jumpUs) > settings.clockStepUs) {
            stepClock(event, jumpUs < 0, out);
        }
        timeUs = Math.max(timeUs, event.ts);
        enter(Math.floorDiv(timeUs, settings.windowUs) * settings.windowUs, event.ns, out);
        event.applyTo(broker);
        lastTs = event.ts;
        lastNs = event.ns;
    }

    /** From the first to the last event. */
    long ageNs() {
        return lastNs - firstNs;
    }

    /** The log is over, though the process may live. */
    void close(Outcomes out) {
        if (windowUs != NEVER) {
            broker.stepClock(lastTs, lastNs);
            closeWindow(lastNs, out);
        }
    }

    /** The process is over: everything alive ends at its last event. */
    void end(Outcomes out) {
        if (started) {
            broker.end(lastTs, lastNs);
        }
        close(out);
    }

    /** The window of the next event: opened, unless it is open. Windows between get rows where a read stays blocked. */
    private void enter(long next, long nextNs, Outcomes out) {
        if (next == windowUs) {
            return;
        }
        if (windowUs != NEVER) {
            long between = windowUs + settings.windowUs;
            closeWindow(nextNs, out);
            while (between < next && broker.hasBlocked(nextNs)) {
                windowUs = between;
                windowSegment = clockSegment;
                closeWindow(nextNs, out);
                between += settings.windowUs;
            }
        }
        windowUs = next;
        windowSegment = clockSegment;
    }

    private void closeWindow(long borderNs, Outcomes out) {
        broker.closeWindow(new Window(epoch, windowUs, windowUs + settings.windowUs, windowSegment, borderNs), out);
        windowUs = NEVER;
    }

    /** The wall clock was set. A step back closes the open window; what lasts goes on from the new time. */
    private void stepClock(Event event, boolean back, Outcomes out) {
        broker.stepClock(event.ts, event.ns);
        clockSegment++;
        if (back) {
            if (windowUs != NEVER) {
                closeWindow(event.ns, out);
                broker.stepClock(event.ts, event.ns);
            }
            timeUs = NEVER;
        }
    }
}
