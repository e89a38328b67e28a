package io.dispatchanalytics.collector.broker;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.dispatchanalytics.collector.log.Event;
import io.dispatchanalytics.collector.log.EventQueue;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class ReadingTest {
    private static final byte[][] NUMBERS = {Fields.LEDGER, Fields.ENTRY};
    private static final byte[][] FLAGS = {Fields.READ_OUT};

    private int readings;

    private String written(Reading reading, long[] values) {
        EventQueue queue = new EventQueue(1 << 12);
        queue.begin(reading.to(Event.of(Fields.STATE), values));
        String[] text = new String[1];
        queue.drain((seq, ts, ns, payload, from, length) -> {
            text[0] = new String(payload, from, length, StandardCharsets.UTF_8);
            return true;
        });
        return text[0];
    }

    @Test
    void twoReadingsThatAgreeAreTaken() {
        Reading reading = new Reading(NUMBERS, FLAGS, into -> {
            readings++;
            into[0] = Math.min(readings, 2);
            into[2] = 1;
        });
        long[] values = reading.values();
        assertEquals(3, readings);
        assertArrayEquals(new long[] {2, Reading.ABSENT, 1}, values);
        assertEquals("\"state\",\"ledger\":2,\"read_out\":true", written(reading, values));
    }

    @Test
    void numbersThatNeverAgreeAreMarked() {
        Reading reading = new Reading(NUMBERS, FLAGS, into -> into[1] = ++readings);
        long[] values = reading.values();
        assertEquals(4, readings);
        assertEquals("\"state\",\"entry\":4,\"moving\":true", written(reading, values));
    }
}
