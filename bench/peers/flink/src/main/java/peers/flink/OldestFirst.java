package peers.flink;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.assigners.FileSplitAssigner;

/** Hands files out as they were written: what a broker wrote first is read first, so little has to be held. */
final class OldestFirst implements FileSplitAssigner {
    private static final Comparator<FileSourceSplit> BY_PLACE =
            Comparator.comparingLong(FileSourceSplit::fileModificationTime)
                    .thenComparing(split -> split.path().toString())
                    .thenComparingLong(FileSourceSplit::offset);

    private final TreeSet<FileSourceSplit> waiting = new TreeSet<>(BY_PLACE);

    OldestFirst(Collection<FileSourceSplit> splits) {
        waiting.addAll(splits);
    }

    @Override
    public Optional<FileSourceSplit> getNext(String hostname) {
        return Optional.ofNullable(waiting.pollFirst());
    }

    @Override
    public void addSplits(Collection<FileSourceSplit> splits) {
        waiting.addAll(splits);
    }

    @Override
    public Collection<FileSourceSplit> remainingSplits() {
        return List.copyOf(waiting);
    }
}
