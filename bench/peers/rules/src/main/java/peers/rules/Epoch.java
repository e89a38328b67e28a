package peers.rules;

import java.util.HashMap;
import java.util.Map;

/** One epoch of a broker: events in the order of {@code seq}, repeats dropped, what comes early held. */
final class Epoch {
    private final EpochTime time;
    private final Map<Long, Event> held = new HashMap<>();
    private long nextSeq = 1;
    private boolean over;

    Epoch(long brokerId, long epoch, Settings settings) {
        time = new EpochTime(brokerId, epoch, settings);
    }

    void offer(Event event, Outcomes out) {
        if (event.seq > nextSeq) {
            held.putIfAbsent(event.seq, event);
            return;
        }
        Event next = event.seq == nextSeq ? event : null;
        while (next != null && !over) {
            time.apply(next, out);
            nextSeq++;
            if (next instanceof Event.BrokerStop) {
                end(out);
            }
            next = held.isEmpty() ? null : held.remove(nextSeq);
        }
    }

    boolean isOver() {
        return over;
    }

    boolean isHolding() {
        return !held.isEmpty() && !over;
    }

    long nextSeq() {
        return nextSeq;
    }

    long ageNs() {
        return time.ageNs();
    }

    void end(Outcomes out) {
        time.end(out);
        over = true;
    }

    void drain(Outcomes out) {
        time.close(out);
        over = true;
    }
}
