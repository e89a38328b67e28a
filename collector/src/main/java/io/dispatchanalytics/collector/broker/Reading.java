package io.dispatchanalytics.collector.broker;

import io.dispatchanalytics.collector.log.Event;
import java.util.Arrays;

/** Numbers of the broker under their keys. The broker's threads go on meanwhile: two readings that agree are of one instant. */
final class Reading {
    static final long ABSENT = Long.MIN_VALUE;
    private static final int TRIES = 4;

    private final byte[][] numbers;
    private final byte[][] flags;
    private final Source source;
    private boolean stable;

    /** Fills in what it knows; the rest is ABSENT. */
    interface Source {
        void read(long[] into);
    }

    /** `numbers` come first in the values, then `flags`, as 0 or 1. */
    Reading(byte[][] numbers, byte[][] flags, Source source) {
        this.numbers = numbers;
        this.flags = flags;
        this.source = source;
    }

    /** Read until two agree, or it is busy all the time. */
    long[] values() {
        long[] before = once();
        for (int tries = 1; tries < TRIES; tries++) {
            long[] now = once();
            if (Arrays.equals(before, now)) {
                stable = true;
                return now;
            }
            before = now;
        }
        stable = false;
        return before;
    }

    private long[] once() {
        long[] values = new long[numbers.length + flags.length];
        Arrays.fill(values, ABSENT);
        source.read(values);
        return values;
    }

    /** Appends those that are there. */
    Event to(Event event, long[] values) {
        for (int at = 0; at < numbers.length; at++) {
            if (values[at] != ABSENT) {
                event.number(numbers[at], values[at]);
            }
        }
        for (int at = 0; at < flags.length; at++) {
            if (values[numbers.length + at] != ABSENT) {
                event.flag(flags[at], values[numbers.length + at] != 0);
            }
        }
        return stable ? event : event.flag(Fields.MOVING, true);
    }
}
