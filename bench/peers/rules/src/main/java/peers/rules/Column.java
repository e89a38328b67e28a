package peers.rules;

/** A column of an outcome. */
public record Column(String name, Type type) {
    /** What a column holds; ID is the hash of a name, 0 for none, TIMESTAMP µs since 1970. */
    public enum Type {
        ID,
        LONG,
        INT,
        DOUBLE,
        BOOLEAN,
        STRING,
        TIMESTAMP
    }
}
