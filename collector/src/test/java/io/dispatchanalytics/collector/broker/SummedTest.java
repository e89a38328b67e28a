package io.dispatchanalytics.collector.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SummedTest {
    private static final long HOUR_NS = 3_600_000_000_000L;

    private final List<String> written = new ArrayList<>();

    private Summed<String> every(long ns) {
        return new Summed<>(ns, (key, sum, commands) -> written.add(key + " " + sum + " of " + commands));
    }

    @Test
    void theFirstIsWrittenAtOnceAndWhatFollowsWithTheHeartbeat() {
        Summed<String> sums = every(HOUR_NS);
        sums.add("a", 3);
        sums.add("a", 4);
        sums.add("a", 5);
        sums.add("b", 0);
        assertEquals(List.of("a 3 of 1", "b 0 of 1"), written);
        sums.heartbeat();
        assertEquals(List.of("a 3 of 1", "b 0 of 1", "a 9 of 2"), written);
    }

    @Test
    void anIdleOneIsForgottenSoTheNextIsWrittenAtOnce() {
        Summed<String> sums = every(HOUR_NS);
        sums.add("a", 1);
        sums.heartbeat();
        sums.add("a", 2);
        assertEquals(List.of("a 1 of 1", "a 2 of 1"), written);
    }

    @Test
    void afterTheTimeEachIsWritten() {
        Summed<String> sums = every(0);
        sums.add("a", 1);
        sums.add("a", 2);
        assertEquals(List.of("a 1 of 1", "a 2 of 1"), written);
    }

    @Test
    void ofWhatEndedTheRestIsWrittenAndItIsForgotten() {
        Summed<String> sums = every(HOUR_NS);
        sums.add("a", 1);
        sums.add("a", 2);
        sums.ended("a");
        sums.ended("b");
        assertEquals(List.of("a 1 of 1", "a 2 of 1"), written);
        sums.heartbeat();
        sums.add("a", 3);
        assertEquals(List.of("a 1 of 1", "a 2 of 1", "a 3 of 1"), written);
    }
}
