package peers.rules;

/** The values of a row, one after the other. */
final class RowBuilder {
    private final Object[] values;
    private int next;

    RowBuilder(Table table) {
        values = new Object[table.columns().size()];
    }

    RowBuilder add(Object value) {
        values[next++] = value;
        return this;
    }

    RowBuilder add(long... numbers) {
        for (long number : numbers) {
            add((Object) number);
        }
        return this;
    }

    RowBuilder addWindow(Window window) {
        return add(window.startUs(), window.endUs()).add((Object) window.clockSegment());
    }

    /** A time that may be absent. */
    RowBuilder addTime(long time) {
        return add(time == Outcomes.NULL ? null : (Object) time);
    }

    /** Counters by level and dimension, messages of all levels first. */
    RowBuilder addSix(long[] counters) {
        for (int dimension = 0; dimension < Dimension.COUNT; dimension++) {
            for (int level = 0; level < Level.COUNT; level++) {
                add((Object) counters[2 * level + dimension]);
            }
        }
        return this;
    }

    /** Of a whole log only a beginning can be missing. */
    RowBuilder addCompleteness(boolean complete) {
        return add((Object) complete).add(complete ? null : (Object) "beginning_not_seen").add((Object) BrokerLog.COMPLETENESS);
    }

    /** Whether reads had the log's answers. */
    RowBuilder addSource(long reads, long modelled) {
        String partly = modelled == 0 ? "observed" : modelled == reads ? "modelled" : "mixed";
        return add((Object) (reads == 0 ? "none" : partly));
    }

    Object[] values() {
        if (next != values.length) {
            throw new IllegalStateException("a row has " + next + " values, its table " + values.length + " columns");
        }
        return values;
    }
}
