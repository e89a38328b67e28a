package io.dispatchanalytics.collector.files;

import io.dispatchanalytics.collector.Notices;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The folder of the log: names of files, what a crash left behind, and the bound of the total size.
 *
 * `BROKER-EPOCH-SEQ.jsonl.gz` is whole. `_unfinished-BROKER-EPOCH-SEQ` is being written. Spark takes no file whose name
 * begins with an underscore, and a glob for `*.jsonl*` does not match.
 */
final class LogFolder {
    static final String WHOLE = ".jsonl.gz";
    static final String UNFINISHED = "_unfinished-";

    private final Path folder;
    private final String broker;
    private final long epoch;
    private final long keepBytes;
    /** Events of the finished files of this epoch, by name: what is lost when one is deleted. */
    private final Map<Path, Long> events = new HashMap<>();

    LogFolder(Path folder, String brokerId, long epoch, long keepBytes) {
        this.folder = folder;
        // A broker id has a colon, and may have brackets of an IPv6 address: not everywhere a file name.
        this.broker = brokerId.replaceAll("[^A-Za-z0-9.-]", "_");
        this.epoch = epoch;
        this.keepBytes = keepBytes;
    }

    /** A new file whose first event has this seq. Makes the folder. */
    LogFile open(long firstSeq) throws IOException {
        Files.createDirectories(folder);
        // Fixed widths: names in alphabetical order are in the order of the log.
        Path path = folder.resolve(String.format("%s%s-%013d-%012d", UNFINISHED, broker, epoch, firstSeq));
        // It is there only if a file was given up after an error: its events are in the queue again.
        Files.deleteIfExists(path);
        return new LogFile(path);
    }

    /** Gives a whole and closed file its final name. */
    void finish(Path path, long eventCount) throws IOException {
        Path whole = finalNameOf(path);
        Files.move(path, whole, StandardCopyOption.ATOMIC_MOVE);
        events.put(whole, eventCount);
    }

    private static Path finalNameOf(Path path) {
        return path.resolveSibling(path.getFileName().toString().substring(UNFINISHED.length()) + WHOLE);
    }

    /** Cuts what earlier lives of this broker left unfinished to whole lines, and gives it its final name. */
    void salvage() throws IOException {
        Salvage salvage = new Salvage();
        for (Path path : files(UNFINISHED, "")) {
            // Two brokers of one id at the same time do not exist; an own unfinished file does.
            if (epochOf(path) == epoch) {
                continue;
            }
            long lines = salvage.cut(path);
            if (lines == 0) {
                Files.delete(path);
            } else {
                Files.move(path, finalNameOf(path), StandardCopyOption.ATOMIC_MOVE);
            }
            Notices.print("salvaged " + lines + " events from " + path + ", which an earlier broker process left unfinished");
        }
    }

    /** Deletes the oldest finished files until the rest fits. Returns how many events of this epoch are gone. */
    long keepWithinBound() throws IOException {
        List<Path> files = files("", WHOLE);
        long total = 0;
        for (Path path : files) {
            total += size(path);
        }
        long lost = 0;
        for (Path path : files) {
            if (total <= keepBytes) {
                break;
            }
            total -= size(path);
            Files.deleteIfExists(path);
            lost += events.getOrDefault(path, 0L);
            events.remove(path);
            Notices.printSeldom("keep", "keep_mb is reached: deleted " + path + ", and older files before");
        }
        return lost;
    }

    /** Size, or 0 for a file that a shipper has just taken away. */
    private static long size(Path path) throws IOException {
        try {
            return Files.size(path);
        } catch (java.nio.file.NoSuchFileException taken) {
            return 0;
        }
    }

    /** This broker's files, oldest first. */
    private List<Path> files(String prefix, String suffix) throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        Pattern named = Pattern.compile(Pattern.quote(prefix + broker) + "-\\d{13}-\\d{12,}" + Pattern.quote(suffix));
        try (Stream<Path> all = Files.list(folder)) {
            List<Path> mine = new ArrayList<>(all.filter(path -> named.matcher(path.getFileName().toString()).matches()).toList());
            mine.sort(Comparator.naturalOrder());
            return mine;
        }
    }

    /** Of an unfinished file. */
    private long epochOf(Path path) {
        int from = UNFINISHED.length() + broker.length() + 1;
        return Long.parseLong(path.getFileName().toString().substring(from, from + 13));
    }
}
