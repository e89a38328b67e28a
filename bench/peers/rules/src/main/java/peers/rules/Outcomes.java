package peers.rules;

/** Takes the rows of windows that close. */
@FunctionalInterface
public interface Outcomes {
    /** Stands for an absent time inside the rules; rows have null. */
    long NULL = Long.MIN_VALUE;

    /** A row of {@code table}, one value for each of its columns: Long, Integer, Double, Boolean or String; times as Long, in µs. */
    void add(Table table, Object[] values);
}
