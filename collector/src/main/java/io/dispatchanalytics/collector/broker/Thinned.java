package io.dispatchanalytics.collector.broker;

/** Numbers of which several become one event with their sum, so that no total is lost. Not for several threads. */
final class Thinned {
    private final long everyNs;
    private boolean isWritten;
    private long writtenNs;
    private long sum;
    private long commands;

    Thinned(long everyNs) {
        this.everyNs = everyNs;
    }

    /** Takes one more. Returns whether it is time to write. */
    boolean add(long number, long nowNs) {
        sum += number;
        commands++;
        return !isWritten || nowNs - writtenNs >= everyNs;
    }

    /** Of what was not written yet. */
    long sum() {
        return sum;
    }

    /** How many those are. */
    long commands() {
        return commands;
    }

    /** They are written now. */
    void written(long nowNs) {
        isWritten = true;
        writtenNs = nowNs;
        sum = 0;
        commands = 0;
    }
}
