package io.dispatchanalytics.collector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.dispatchanalytics.collector.files.LogWriter;
import io.dispatchanalytics.collector.log.Event;
import io.dispatchanalytics.collector.log.EventQueue;
import io.dispatchanalytics.collector.options.Options;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EndingTest {
    private static final long PATIENCE_MS = 5_000;

    @TempDir
    private Path folder;

    @Test
    void theProcessWaitsForTheBrokersLastEventAndItIsWritten() throws Exception {
        EventQueue queue = new EventQueue(10_000);
        queue.begin(Event.of(Event.type("broker_start")));
        LogWriter writer = new LogWriter(queue, Options.parse("dir=" + folder), () -> "b:1", 1_795_261_607_050L, () -> { });
        Thread writing = new Thread(writer);
        writing.start();
        Thread ending = new Thread(new Ending(queue, () -> true, writer, writing));
        ending.start();
        ending.join(100);
        assertTrue(ending.isAlive(), "the broker still closes itself");
        queue.put(Event.of(Event.type("late")));
        queue.end(Event.of(Event.type("broker_stop")));
        ending.join(PATIENCE_MS);
        assertFalse(ending.isAlive());
        assertEquals(List.of("broker_start", "late", "broker_stop"), types());
    }

    @Test
    void aBrokerThatWasNeverMadeIsNotWaitedFor() throws Exception {
        EventQueue queue = new EventQueue(10_000);
        LogWriter writer = new LogWriter(queue, Options.parse("dir=" + folder), () -> null, 1_795_261_607_050L, () -> { });
        Thread writing = new Thread(writer);
        writing.start();
        Thread ending = new Thread(new Ending(queue, () -> false, writer, writing));
        ending.start();
        ending.join(PATIENCE_MS);
        assertFalse(ending.isAlive());
        assertFalse(writing.isAlive());
    }

    private List<String> types() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            Path only = files.toList().get(0);
            try (GZIPInputStream stream = new GZIPInputStream(Files.newInputStream(only))) {
                return new String(stream.readAllBytes(), StandardCharsets.UTF_8).lines()
                        .map(line -> line.replaceAll(".*\"type\":\"(\\w+)\".*", "$1")).toList();
            }
        }
    }
}
