package io.dispatchanalytics.collector.log;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.time.Instant;

/**
 * The bounded queue between the broker's threads and the writer, and the place where `seq` is given.
 *
 * One short lock gives an event its number, its two times and its place: so the order of `seq` is the order of the
 * queue and of both clocks. Nobody ever waits for room. An event that finds none is lost: its number stays used, so
 * a reader sees the gap, and heartbeats count it.
 *
 * One array holds everything, so memory is bounded by bytes and nothing is left for the garbage collector.
 */
public final class EventQueue {
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());
    private static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.nativeOrder());
    /** An entry: length (int), seq, ts, ns (longs), payload. */
    static final int HEADER_BYTES = 28;
    private static final int TO_THE_START = -1;
    /** Room that only the last event may take: a stop must be in the log also when the disk was too slow for all else. */
    private static final int RESERVE_BYTES = 256;

    private final Object lock = new Object();
    private final byte[] ring;
    private final int capacity;
    /** Positions since the beginning; modulo the capacity they are indexes. */
    private long head;
    private long tail;
    private long seq;
    private long dropped;
    private boolean losing;
    private State state = State.NOT_BEGUN;

    private enum State { NOT_BEGUN, OPEN, CLOSED }

    /** What the writer does with an entry. */
    public interface Reader {
        /** Takes one event: `payload` is valid during the call. Returns false if it wants no more after this one. */
        boolean take(long seq, long tsUs, long ns, byte[] payload, int from, int length);
    }

    /** Empty, of this size. */
    public EventQueue(int bytes) {
        ring = new byte[bytes];
        capacity = bytes;
    }

    /** The first event of the epoch. Events before it are not of the log. */
    public void begin(Event event) {
        synchronized (lock) {
            if (state == State.NOT_BEGUN) {
                state = State.OPEN;
                place(event.payload(), 0);
            }
        }
    }

    /**
     * Puts an event at the end, or counts it as lost.
     *
     * Once events are lost they are until a quarter is free: one long gap is less work for readers than a thousand.
     */
    public void put(Event event) {
        synchronized (lock) {
            if (state == State.OPEN) {
                losing = !place(event.payload(), losing ? capacity >> 2 : RESERVE_BYTES);
            }
        }
    }

    /** The last event: nothing follows it. */
    public void end(Event event) {
        synchronized (lock) {
            if (state == State.OPEN) {
                place(event.payload(), 0);
                state = State.CLOSED;
            }
        }
    }

    /** An event that a bug kept from being made: it has a number that nobody sees. */
    public void lose() {
        synchronized (lock) {
            if (state == State.OPEN) {
                seq++;
                dropped++;
            }
        }
    }

    /** Events that were queued and are gone: their file was deleted. */
    public void count(long lost) {
        synchronized (lock) {
            dropped += lost;
        }
    }

    /** Events lost since the start. */
    public long dropped() {
        synchronized (lock) {
            return dropped;
        }
    }

    /** Number of the newest event, also of one that was lost. */
    public long seq() {
        synchronized (lock) {
            return seq;
        }
    }

    /** Whether the last event was put. */
    public boolean isClosed() {
        synchronized (lock) {
            return state == State.CLOSED;
        }
    }

    /** Whether the first event was put. */
    public boolean isBegun() {
        synchronized (lock) {
            return state != State.NOT_BEGUN;
        }
    }

    private boolean place(Bytes payload, int reserve) {
        seq++;
        int needed = HEADER_BYTES + payload.length();
        int at = (int) (head % capacity);
        // An entry lies in one piece. What is left at the end of the array is skipped.
        int skipped = capacity - at < needed ? capacity - at : 0;
        if (capacity - (head - tail) < (long) skipped + needed + reserve) {
            dropped++;
            return false;
        }
        if (skipped > 0) {
            if (skipped >= Integer.BYTES) {
                INTS.set(ring, at, TO_THE_START);
            }
            at = 0;
        }
        Instant now = Instant.now();
        INTS.set(ring, at, payload.length());
        LONGS.set(ring, at + 4, seq);
        LONGS.set(ring, at + 12, now.getEpochSecond() * 1_000_000L + now.getNano() / 1_000);
        LONGS.set(ring, at + 20, System.nanoTime());
        System.arraycopy(payload.array(), 0, ring, at + HEADER_BYTES, payload.length());
        head += skipped + needed;
        return true;
    }

    /** Hands the events that wait to the reader, in order, and gives their room back. Only the writer's thread calls it. */
    public int drain(Reader reader) {
        long end;
        synchronized (lock) {
            end = head;
        }
        // Nobody writes between tail and head, and only this thread moves tail: no lock while the reader works.
        long position = tail;
        int taken = 0;
        boolean more = true;
        while (more && position < end) {
            int at = (int) (position % capacity);
            int length = capacity - at < Integer.BYTES ? TO_THE_START : (int) INTS.get(ring, at);
            if (length == TO_THE_START) {
                position += capacity - at;
                continue;
            }
            more = reader.take((long) LONGS.get(ring, at + 4), (long) LONGS.get(ring, at + 12), (long) LONGS.get(ring, at + 20),
                    ring, at + HEADER_BYTES, length);
            position += HEADER_BYTES + length;
            taken++;
        }
        synchronized (lock) {
            tail = position;
        }
        return taken;
    }
}
