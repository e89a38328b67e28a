package io.dispatchanalytics.collector.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;

/** Thinning changes how many events there are, and no total. */
class ThinnedTest {
    private static final long EVERY_NS = 100;

    @Test
    void theFirstIsWrittenAtOnceAndTheNextWaits() {
        Thinned flow = new Thinned(EVERY_NS);
        assertTrue(flow.add(5, Long.MIN_VALUE + 1));
        flow.written(Long.MIN_VALUE + 1);
        assertFalse(flow.add(7, Long.MIN_VALUE + EVERY_NS));
        assertTrue(flow.add(2, Long.MIN_VALUE + 1 + EVERY_NS));
        assertEquals(9, flow.sum());
        assertEquals(2, flow.commands());
    }

    @Test
    void totalsStayWhateverIsWrittenWhen() {
        Random random = new Random(1);
        Thinned flow = new Thinned(EVERY_NS);
        long given = 0;
        long written = 0;
        long commands = 0;
        long events = 0;
        for (long now = 0, count = 0; count < 1000; count++, now += random.nextInt(60)) {
            long permits = 1 + random.nextInt(1000);
            given += permits;
            if (flow.add(permits, now)) {
                written += flow.sum();
                commands += flow.commands();
                events++;
                flow.written(now);
            }
        }
        assertEquals(given, written + flow.sum());
        assertEquals(1000, commands + flow.commands());
        assertTrue(events < 500, events + " events");
    }
}
