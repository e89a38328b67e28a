package peers.flink;

import java.io.IOException;
import java.nio.file.Files;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.flink.table.data.StringData;
import org.apache.hadoop.fs.Path;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.hadoop.ParquetReader;
import org.apache.parquet.hadoop.example.GroupReadSupport;

/** The text of ids, out of the warehouse's table {@code names}. */
final class Names {
    /** Of a broker its own name is in {@code first}; of a topic or subscription {@code first} is the topic. */
    private record Name(StringData first, StringData subscription) {}

    private final Map<Long, Name> byId = new HashMap<>();

    Names(String folder) throws IOException {
        for (java.nio.file.Path file : filesIn(folder)) {
            try (ParquetReader<Group> rows = ParquetReader.builder(new GroupReadSupport(), new Path(file.toUri())).build()) {
                for (Group row = rows.read(); row != null; row = rows.read()) {
                    String first = row.getString("level", 0).equals("broker") ? "broker" : "topic";
                    byId.put(row.getLong("id", 0), new Name(text(row, first), text(row, "subscription")));
                }
            }
        }
    }

    StringData broker(long id) {
        return known(id).first;
    }

    /** The topic of an event's ids, null if both are 0. */
    StringData topic(long topicId, long subId) {
        return topicId == 0 ? null : known(subId != 0 ? subId : topicId).first;
    }

    StringData subscription(long subId) {
        return subId == 0 ? null : known(subId).subscription;
    }

    private Name known(long id) {
        Name name = byId.get(id);
        if (name == null) {
            throw new IllegalStateException("id " + id + " has no name");
        }
        return name;
    }

    private static StringData text(Group row, String column) {
        return row.getFieldRepetitionCount(column) == 0 ? null : StringData.fromString(row.getString(column, 0));
    }

    private static List<java.nio.file.Path> filesIn(String folder) throws IOException {
        try (Stream<java.nio.file.Path> files = Files.list(java.nio.file.Path.of(folder))) {
            return files.filter(file -> file.toString().endsWith(".parquet")).toList();
        }
    }
}
