package io.dispatchanalytics.collector.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class EventQueueTest {
    private static final byte[] START = Event.type("start");
    private static final byte[] SOME = Event.type("some");
    private static final byte[] STOP = Event.type("stop");
    private static final byte[] N = Json.key("n");

    private record Taken(long seq, long tsUs, long ns, String payload) { }

    private static List<Taken> drained(EventQueue queue) {
        List<Taken> taken = new ArrayList<>();
        queue.drain((seq, tsUs, ns, payload, from, length) ->
                taken.add(new Taken(seq, tsUs, ns, new String(payload, from, length, StandardCharsets.UTF_8))));
        return taken;
    }

    private static EventQueue begun(int bytes) {
        EventQueue queue = new EventQueue(bytes);
        queue.begin(Event.of(START));
        return queue;
    }

    @Test
    void eventsComeOutInOrderWithNumbersFromOne() {
        EventQueue queue = begun(10_000);
        queue.put(Event.of(SOME).number(N, 5));
        queue.end(Event.of(STOP));
        List<Taken> taken = drained(queue);
        assertEquals(List.of("\"start\"", "\"some\",\"n\":5", "\"stop\""), taken.stream().map(Taken::payload).toList());
        assertEquals(List.of(1L, 2L, 3L), taken.stream().map(Taken::seq).toList());
    }

    @Test
    void nothingIsOfTheLogBeforeTheBeginningAndAfterTheEnd() {
        EventQueue queue = new EventQueue(10_000);
        queue.put(Event.of(SOME));
        queue.lose();
        queue.begin(Event.of(START));
        queue.begin(Event.of(START));
        queue.end(Event.of(STOP));
        queue.put(Event.of(SOME));
        queue.lose();
        queue.end(Event.of(STOP));
        assertEquals(List.of(1L, 2L), drained(queue).stream().map(Taken::seq).toList());
        assertTrue(queue.isClosed());
        assertEquals(0, queue.dropped());
    }

    @Test
    void aFullQueueLosesTheNewestAndTheirNumbers() {
        EventQueue queue = begun(1_000);
        IntStream.range(0, 100).forEach(n -> queue.put(Event.of(SOME).number(N, n)));
        int kept = drained(queue).size();
        assertTrue(kept > 10 && kept < 30, "kept " + kept);
        assertEquals(101 - kept, queue.dropped());
        queue.put(Event.of(SOME).number(N, 100));
        assertEquals(102, drained(queue).get(0).seq());
    }

    @Test
    void whatIsLostIsLostInOneStretch() {
        EventQueue queue = begun(10_000);
        IntStream.range(0, 1_000).forEach(n -> queue.put(Event.of(SOME).number(N, n)));
        long lost = queue.dropped();
        // A little room: not enough to begin again.
        int[] wanted = {20};
        queue.drain((seq, tsUs, ns, payload, from, length) -> --wanted[0] > 0);
        queue.put(Event.of(SOME));
        assertEquals(lost + 1, queue.dropped());
        wanted[0] = 80;
        queue.drain((seq, tsUs, ns, payload, from, length) -> --wanted[0] > 0);
        queue.put(Event.of(SOME));
        assertEquals(lost + 1, queue.dropped());
        List<Taken> taken = drained(queue);
        long gap = taken.get(taken.size() - 1).seq() - taken.get(taken.size() - 2).seq() - 1;
        assertEquals(lost + 1, gap);
    }

    @Test
    void theEndHasRoomInAFullQueue() {
        EventQueue queue = begun(1_000);
        IntStream.range(0, 100).forEach(n -> queue.put(Event.of(SOME).number(N, n)));
        queue.end(Event.of(STOP));
        List<Taken> taken = drained(queue);
        assertEquals("\"stop\"", taken.get(taken.size() - 1).payload());
        assertEquals(102, taken.get(taken.size() - 1).seq());
    }

    @Test
    void anEventThatWasNeverMadeLeavesAGap() {
        EventQueue queue = begun(1_000);
        queue.lose();
        queue.put(Event.of(SOME));
        assertEquals(List.of(1L, 3L), drained(queue).stream().map(Taken::seq).toList());
        assertEquals(1, queue.dropped());
        queue.count(10);
        assertEquals(11, queue.dropped());
    }

    @Test
    void roomIsGivenBackAcrossTheEndOfTheArray() {
        // Of every size near the array's end, so that what is left there is of every length.
        for (int bytes = 600; bytes < 680; bytes++) {
            EventQueue queue = begun(bytes);
            drained(queue);
            for (int n = 0; n < 500; n++) {
                queue.put(Event.of(SOME).number(N, n));
                List<Taken> taken = drained(queue);
                assertEquals(1, taken.size());
                assertEquals("\"some\",\"n\":" + n, taken.get(0).payload());
            }
            assertEquals(0, queue.dropped());
        }
    }

    @Test
    void aReaderThatHasEnoughGetsTheRestLater() {
        EventQueue queue = begun(10_000);
        queue.put(Event.of(SOME));
        assertEquals(1, queue.drain((seq, tsUs, ns, payload, from, length) -> false));
        assertEquals(List.of(2L), drained(queue).stream().map(Taken::seq).toList());
    }

    @Test
    void manyThreadsGetNumbersAndTimesInOneOrderAndEachKeepsItsOwn() throws InterruptedException {
        EventQueue queue = begun(1 << 16);
        int threads = 4;
        int each = 20_000;
        CountDownLatch done = new CountDownLatch(threads);
        for (int thread = 0; thread < threads; thread++) {
            long first = (long) thread * each;
            new Thread(() -> {
                LongStream.range(first, first + each).forEach(n -> queue.put(Event.of(SOME).number(N, n)));
                done.countDown();
            }).start();
        }
        List<Taken> all = new ArrayList<>();
        while (done.getCount() > 0) {
            all.addAll(drained(queue));
        }
        all.addAll(drained(queue));
        Taken before = new Taken(0, 0, Long.MIN_VALUE, "");
        long[] lastOfThread = new long[threads];
        java.util.Arrays.fill(lastOfThread, -1);
        Set<String> payloads = new HashSet<>();
        for (Taken taken : all) {
            assertTrue(taken.seq > before.seq && taken.ns >= before.ns, "order of " + before + ", " + taken);
            assertTrue(payloads.add(taken.payload));
            if (taken.seq > 1) {
                long n = Long.parseLong(taken.payload.substring(taken.payload.lastIndexOf(':') + 1));
                assertTrue(n > lastOfThread[(int) (n / each)]);
                lastOfThread[(int) (n / each)] = n;
            }
            before = taken;
        }
        assertEquals(1L + (long) threads * each, all.size() + queue.dropped());
        assertFalse(queue.isClosed());
    }
}
