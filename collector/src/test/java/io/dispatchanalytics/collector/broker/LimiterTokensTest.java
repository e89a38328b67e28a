package io.dispatchanalytics.collector.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.apache.pulsar.broker.qos.AsyncTokenBucket;
import org.junit.jupiter.api.Test;

/** The books of the broker's own buckets: the balance after an answer, and the debt that the answer hides. */
class LimiterTokensTest {
    private final long[] now = {1};
    private final AsyncTokenBucket bucket = AsyncTokenBucket.builder().rate(10).ratePeriodNanos(1_000_000_000L).initialTokens(10)
            .addTokensResolutionNanos(1_000_000_000L).clock(() -> now[0]).build();

    private long answer() {
        return Math.max(0, bucket.getTokens());
    }

    @Test
    void whatIsLeftIsTheAnswer() {
        bucket.consumeTokens(4);
        assertEquals(6, LimiterTokens.after(answer(), bucket));
    }

    @Test
    void debtIsBelowZeroBeforeAndAfterARefill() {
        bucket.consumeTokens(35);
        assertEquals(0, answer());
        assertEquals(-25, LimiterTokens.after(answer(), bucket));
        now[0] += 1_000_000_001L;
        assertEquals(0, answer());
        assertEquals(-15, LimiterTokens.after(answer(), bucket));
    }

    @Test
    void noLimiterHasNoBooks() {
        assertEquals(-1, LimiterTokens.after(-1, null));
    }
}
