package io.dispatchanalytics.collector.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.dispatchanalytics.collector.log.Event;
import io.dispatchanalytics.collector.log.EventQueue;
import io.dispatchanalytics.collector.log.Json;
import io.dispatchanalytics.collector.options.BadOption;
import io.dispatchanalytics.collector.options.Options;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LogWriterTest {
    private static final byte[] SOME = Event.type("some");
    private static final byte[] N = Json.key("n");
    private static final long EPOCH = 1_795_261_607_050L;
    private static final long PATIENCE_MS = 10_000;

    @TempDir
    private Path temporary;
    private Path folder;
    private EventQueue queue;
    private long lastSeq = 1;
    private LogWriter writer;
    private Thread thread;

    @BeforeEach
    void emptyQueue() {
        folder = temporary.resolve("log");
        queue = new EventQueue(1 << 16);
        queue.begin(Event.of(Event.type("broker_start")));
    }

    @AfterEach
    void end() throws InterruptedException {
        stop();
    }

    private void start(String options, long epoch) throws BadOption {
        writer = new LogWriter(queue, Options.parse("dir=" + folder + ",flush_ms=1" + options), () -> "host:8080", epoch, () -> { });
        thread = new Thread(writer);
        thread.start();
    }

    private void stop() throws InterruptedException {
        if (thread != null) {
            writer.stop();
            thread.join(PATIENCE_MS);
            assertTrue(!thread.isAlive(), "the writer ends");
        }
    }

    private void put(int events) {
        IntStream.range(0, events).forEach(n -> queue.put(Event.of(SOME).number(N, n)));
        lastSeq += events;
    }

    /** Whether the queue had room for an event. */
    private boolean isPut() {
        long before = queue.dropped();
        put(1);
        return queue.dropped() == before;
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        long until = System.nanoTime() + PATIENCE_MS * 1_000_000L;
        while (!condition.getAsBoolean() && System.nanoTime() < until) {
            Thread.sleep(5);
        }
        assertTrue(condition.getAsBoolean());
    }

    private List<Path> files(String suffix) {
        try (Stream<Path> all = Files.list(folder)) {
            return all.filter(path -> path.toString().endsWith(suffix)).sorted().toList();
        } catch (IOException absent) {
            return List.of();
        }
    }

    private List<Path> unfinished() {
        return files("").stream().filter(path -> path.getFileName().toString().startsWith("_unfinished-")).toList();
    }

    private List<String> lines() throws IOException {
        List<String> lines = new ArrayList<>();
        for (Path path : files(".jsonl.gz")) {
            try (GZIPInputStream stream = new GZIPInputStream(Files.newInputStream(path))) {
                String text = new String(stream.readAllBytes(), StandardCharsets.UTF_8);
                assertTrue(text.endsWith("\n"), "whole lines only");
                lines.addAll(text.lines().toList());
            }
        }
        return lines;
    }

    private List<Long> seqs() throws IOException {
        return lines().stream().map(line -> Long.parseLong(line.replaceAll(".*\"seq\":(\\d+),.*", "$1"))).toList();
    }

    private static List<Long> upTo(long last) {
        return LongStream.rangeClosed(1, last).boxed().toList();
    }

    @Test
    void everyEventIsALineWithItsEnvelope() throws Exception {
        start("", EPOCH);
        put(2);
        stop();
        List<String> lines = lines();
        String envelope = "\\{\"v\":1,\"broker\":\"host:8080\",\"epoch\":" + EPOCH + ",\"seq\":%d,\"ts\":\\d{16},\"ns\":\\d+,\"type\":%s\\}";
        assertTrue(lines.get(0).matches(envelope.formatted(1, "\"broker_start\"")), lines.get(0));
        assertTrue(lines.get(2).matches(envelope.formatted(3, "\"some\",\"n\":1")), lines.get(2));
        assertEquals("host_8080-1795261607050-000000000001.jsonl.gz", files(".jsonl.gz").get(0).getFileName().toString());
    }

    @Test
    void aFileIsFinishedByAgeWithoutMoreEvents() throws Exception {
        start(",roll_s=1", EPOCH);
        put(1);
        await(() -> unfinished().size() == 1);
        await(() -> files(".jsonl.gz").size() == 1);
        assertEquals(0, unfinished().size());
    }

    @Test
    void aFolderThatCannotBeMadeIsTriedAgainAndNothingIsLost() throws Exception {
        Files.writeString(folder, "a file in the place of the folder");
        start("", EPOCH);
        put(10);
        Thread.sleep(100);
        Files.delete(folder);
        put(10);
        await(() -> unfinished().size() == 1);
        stop();
        assertEquals(upTo(21), seqs());
        assertEquals(0, queue.dropped());
    }

    @Test
    void aFolderThatStaysAwayCostsEventsAndNothingElse() throws Exception {
        Files.writeString(folder, "a file in the place of the folder");
        start("", EPOCH);
        for (int round = 0; round < 50; round++) {
            put(1_000);
            Thread.sleep(20);
        }
        assertTrue(queue.dropped() > 30_000, "dropped " + queue.dropped());
        Files.delete(folder);
        await(this::isPut);
        stop();
        List<Long> seqs = seqs();
        assertEquals(lastSeq, seqs.get(seqs.size() - 1));
        assertEquals(lastSeq, seqs.size() + queue.dropped());
    }

    @Test
    void whatNoFileTookIsCountedAtTheEnd() throws Exception {
        Files.writeString(folder, "a file in the place of the folder");
        start("", EPOCH);
        put(10);
        stop();
        assertEquals(11, queue.dropped());
    }

    @Test
    void theOldestFilesGoAndTheirEventsAreCounted() throws Exception {
        queue = new EventQueue(1 << 24);
        queue.begin(Event.of(Event.type("broker_start")));
        start(",roll_mb=1,keep_mb=2", EPOCH);
        Random random = new Random(1);
        byte[] text = Json.key("text");
        for (int n = 0; n < 60_000; n++) {
            // What does not compress: 5 MB.
            queue.put(Event.of(SOME).numbers(text, new long[] {random.nextLong(), random.nextLong(), random.nextLong(), random.nextLong()}));
            if (n % 5_000 == 0) {
                Thread.sleep(50);
            }
        }
        stop();
        long bytes = files(".jsonl.gz").stream().mapToLong(path -> path.toFile().length()).sum();
        assertTrue(bytes <= 2 << 20, "bytes " + bytes);
        List<Long> seqs = seqs();
        assertEquals(60_001, seqs.get(seqs.size() - 1));
        assertEquals(60_001, seqs.size() + queue.dropped());
        assertEquals(LongStream.rangeClosed(seqs.get(0), 60_001).boxed().toList(), seqs);
    }

    /** The bytes of a file as they were at a crash: two members of the same two lines, without the last bytes. */
    private static byte[] crashed(int cut) {
        GzipMember member = new GzipMember();
        String lines = "{\"seq\":1,\"broker\":1}\n{\"seq\":2,\"broker\":1}\n";
        member.compress(lines.getBytes(StandardCharsets.US_ASCII), lines.length());
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        file.write(member.array(), 0, member.length());
        file.write(member.array(), 0, member.length());
        return java.util.Arrays.copyOf(file.toByteArray(), 2 * member.length() - cut);
    }

    @Test
    void whatACrashLeftIsCutToWholeLinesAtTheNextStart() throws Exception {
        Files.createDirectories(folder);
        int wholeSecond = crashed(0).length / 2;
        for (int cut = 0; cut <= crashed(0).length; cut++) {
            Files.write(folder.resolve("_unfinished-host_8080-%013d-000000000001".formatted(1_000L + cut)), crashed(cut));
        }
        Path others = folder.resolve("_unfinished-other_8080-0000000001000-000000000001");
        Files.write(others, crashed(1));
        start("", EPOCH);
        await(() -> unfinished().stream().allMatch(path -> path.equals(others) || path.toString().contains("" + EPOCH)));
        stop();
        assertEquals(List.of(others), unfinished());
        List<Long> counts = new ArrayList<>();
        for (Path path : files(".jsonl.gz")) {
            try (GZIPInputStream stream = new GZIPInputStream(Files.newInputStream(path))) {
                counts.add(new String(stream.readAllBytes(), StandardCharsets.UTF_8).lines().count());
            }
        }
        // Nothing cut off; the second member damaged at every of its bytes; then nothing is left, and no file; last the own one.
        assertEquals(4L, counts.get(0));
        assertEquals(java.util.Collections.nCopies(wholeSecond, 2L), counts.subList(1, 1 + wholeSecond));
        assertEquals(1 + wholeSecond + 1, counts.size());
    }

    @Test
    void aDamagedByteEndsWhatIsSalvaged() throws Exception {
        Files.createDirectories(folder);
        byte[] bytes = crashed(0);
        bytes[bytes.length / 2 + 12] ^= 0x55;
        Path part = Files.write(folder.resolve("x.part"), bytes, StandardOpenOption.CREATE_NEW);
        assertEquals(2, new Salvage().cut(part));
        assertEquals(bytes.length / 2, Files.size(part));
    }

    @Test
    void aLargeFileIsSalvagedWhole() throws Exception {
        Files.createDirectories(folder);
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        GzipMember member = new GzipMember();
        Random random = new Random(2);
        for (int number = 0; number < 5; number++) {
            StringBuilder lines = new StringBuilder();
            IntStream.range(0, 20_000).forEach(n -> lines.append(random.nextLong()).append('\n'));
            member.compress(lines.toString().getBytes(StandardCharsets.US_ASCII), lines.length());
            file.write(member.array(), 0, member.length());
        }
        Path part = Files.write(folder.resolve("x.part"), file.toByteArray());
        assertEquals(100_000, new Salvage().cut(part));
        assertEquals(file.size(), Files.size(part));
    }
}
