package io.dispatchanalytics.collector.broker;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Events of which those of a short time become one with their sum, by what distinguishes them. */
final class Summed<K> {
    private final long everyNs;
    private final Writer<K> writer;
    private final Map<K, Thinned> sums = new ConcurrentHashMap<>();

    /** Writes one event for `commands` of the like. */
    interface Writer<K> {
        void write(K key, long sum, long commands);
    }

    Summed(long everyNs, Writer<K> writer) {
        this.everyNs = everyNs;
        this.writer = writer;
    }

    /** One more. The first is written at once. */
    void add(K key, long number) {
        sums.compute(key, (same, known) -> {
            Thinned sum = known == null ? new Thinned(everyNs) : known;
            long now = System.nanoTime();
            if (sum.add(number, now)) {
                write(key, sum, now);
            }
            return sum;
        });
    }

    private void write(K key, Thinned sum, long now) {
        if (sum.commands() > 0) {
            writer.write(key, sum.sum(), sum.commands());
        }
        sum.written(now);
    }

    /** Nothing more will come: what waits is written, and the key is forgotten. */
    void ended(K key) {
        sums.computeIfPresent(key, (same, sum) -> {
            write(key, sum, System.nanoTime());
            return null;
        });
    }

    /** Once a second: what waits is written, and what is idle is forgotten. */
    void heartbeat() {
        for (K key : sums.keySet()) {
            sums.computeIfPresent(key, (same, sum) -> {
                boolean idle = sum.commands() == 0;
                write(key, sum, System.nanoTime());
                return idle ? null : sum;
            });
        }
    }
}
