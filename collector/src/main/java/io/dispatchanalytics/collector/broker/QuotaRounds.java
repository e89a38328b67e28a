package io.dispatchanalytics.collector.broker;

import io.dispatchanalytics.collector.log.Event;
import io.dispatchanalytics.collector.log.EventQueue;
import io.dispatchanalytics.collector.log.Json;

/** Rounds of quota checks and the checks in them. A check may end long after its round, on another thread. */
public final class QuotaRounds {
    private static final byte[] START = Json.field("phase", "start");
    private static final byte[] END = Json.field("phase", "end");
    private static final byte[] OF_PRODUCER = Json.field("cause", "producer");
    /** Rounds overlap when checks are slow; a check that is older than this many rounds has no duration. */
    private static final int REMEMBERED = 64;

    private final EventQueue queue;
    private final Topics topics;
    private final long[] startsMs = new long[REMEMBERED];
    private final long[] startsNs = new long[REMEMBERED];
    private int rounds;
    private final ThreadLocal<Boolean> inRound = ThreadLocal.withInitial(() -> false);

    QuotaRounds(EventQueue queue, Topics topics) {
        this.queue = queue;
        this.topics = topics;
    }

    /** A round begins on this thread. Returns its start. */
    public long begin() {
        inRound.set(true);
        long nowNs = System.nanoTime();
        synchronized (this) {
            startsMs[rounds % REMEMBERED] = System.currentTimeMillis();
            startsNs[rounds % REMEMBERED] = nowNs;
            rounds++;
        }
        queue.put(Event.of(Fields.QUOTA_ROUND).with(START));
        return nowNs;
    }

    /** The round that began then has been through all topics. */
    public void end(long beganNs) {
        inRound.set(false);
        queue.put(Event.of(Fields.QUOTA_ROUND).with(END).number(Fields.DURATION_US, (System.nanoTime() - beganNs) / 1_000));
    }

    /** The check of a topic is complete, in the round that the broker remembers by this time. */
    public void checked(String topic, long roundMs) {
        long beganNs = beganNs(roundMs);
        Event event = Event.of(Fields.QUOTA_CHECK).with(topics.fragment(topic));
        queue.put(event.number(Fields.DURATION_US, (System.nanoTime() - beganNs) / 1_000));
    }

    private synchronized long beganNs(long roundMs) {
        // The broker took its time after ours: its round is the newest that had begun by then.
        for (int round = rounds - 1; round >= 0 && round >= rounds - REMEMBERED; round--) {
            if (startsMs[round % REMEMBERED] <= roundMs) {
                return startsNs[round % REMEMBERED];
            }
        }
        return System.nanoTime() - (System.currentTimeMillis() - roundMs) * 1_000_000L;
    }

    /** The oldest position of a topic was looked up. Outside of a round a producer was the reason. */
    public void lookedUp(String topic) {
        if (!inRound.get()) {
            queue.put(Event.of(Fields.QUOTA_CHECK).with(topics.fragment(topic)).with(OF_PRODUCER));
        }
    }
}
