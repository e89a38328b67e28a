package peers.rules;

import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * The log of one broker, all its epochs side by side: takes events in any order, at least once each, and gives rows. A log must be whole:
 * one that has a hole at its end is refused.
 */
public final class BrokerLog {
    /** Of whole logs every event was seen. */
    static final double COMPLETENESS = 1.0;

    private final long brokerId;
    private final Settings settings;
    private final NavigableMap<Long, Epoch> epochs = new TreeMap<>();
    private transient Epoch latest;
    private transient long latestNumber;

    public BrokerLog(long brokerId, Settings settings) {
        this.brokerId = brokerId;
        this.settings = settings;
    }

    public void offer(Event event, Outcomes out) {
        if (latest == null || latestNumber != event.epoch) {
            latest = epochs.computeIfAbsent(event.epoch, number -> new Epoch(brokerId, number, settings));
            latestNumber = event.epoch;
        }
        latest.offer(event, out);
    }

    /** The log is over: epochs that a newer one has replaced end, the windows of the newest close. */
    public void drain(Outcomes out) {
        boolean replaced = false;
        for (var entry : epochs.descendingMap().entrySet()) {
            Epoch epoch = entry.getValue();
            if (epoch.isHolding()) {
                throw new IllegalStateException("epoch " + entry.getKey() + " of a broker lacks event " + epoch.nextSeq());
            }
            if (!epoch.isOver()) {
                if (replaced) {
                    epoch.end(out);
                } else {
                    epoch.drain(out);
                }
            }
            replaced |= epoch.ageNs() >= settings.latenessNs;
        }
    }
}
