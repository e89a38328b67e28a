package peers.rules;

import java.util.ArrayList;
import java.util.List;
import peers.rules.Column.Type;

/** The two tables, and the texts that numbers in events stand for. */
public final class Tables {
    static final List<String> LEVELS = List.of("broker", "topic", "subscription");
    static final List<String> DIMENSIONS = List.of("msg", "bytes");
    static final List<String> SUB_TYPES = List.of("Exclusive", "Shared", "Failover", "Key_Shared");

    public static final Table SUBSCRIPTION_THROTTLE = new Table("subscription_throttle", subscriptionColumns());
    public static final Table LIMITER_WINDOWS = new Table("limiter_windows", limiterColumns());

    private Tables() {}

    private static List<Column> subscriptionColumns() {
        Columns columns = new Columns();
        columns.add(Type.ID, "broker").add(Type.LONG, "epoch").add(Type.ID, "topic", "subscription");
        columns.add(Type.TIMESTAMP, "opened_at").addWindow();
        columns.add(Type.TIMESTAMP, "closed_at").add(Type.STRING, "sub_type");
        columns.addCompleteness().add(Type.STRING, "source");
        for (String prefix : List.of("", "modelled_")) {
            for (String suffix : List.of("", "_since_open")) {
                columns.addSix(prefix + "dispatch_throttled_%s_events_by_%s_limit" + suffix);
            }
        }
        columns.add(Type.LONG, "reads", "reads_modelled", "reads_shrunk", "reads_blocked");
        columns.addByLevel("reads_blocked_by_%s_limit");
        columns.add(Type.LONG, "reads_binding", "reads_nominal", "reads_by_unwritable_channel");
        columns.addSix("decisive_%s_by_%s_limit");
        columns.add(Type.LONG, "left_mismatches", "blocked_ns").addByLevel("blocked_ns_by_%s_limit");
        columns.add(Type.LONG, "dispatches", "dispatched_entries", "dispatched_msgs", "dispatched_bytes", "uncharged_msgs");
        columns.add(Type.LONG, "oversized_dispatches", "waiting_entries", "waiting_bytes");
        return List.copyOf(columns.list);
    }

    private static List<Column> limiterColumns() {
        Columns columns = new Columns();
        columns.add(Type.ID, "broker").add(Type.LONG, "epoch").add(Type.STRING, "level").add(Type.ID, "topic", "subscription");
        columns.add(Type.STRING, "dimension").add(Type.TIMESTAMP, "created_at").addWindow();
        columns.add(Type.TIMESTAMP, "closed_at").add(Type.STRING, "limiter").add(Type.LONG, "rate", "period_ms");
        columns.add(Type.BOOLEAN, "relative").add(Type.LONG, "applied", "permits_start", "permits_end", "used", "over_delivered", "debt");
        columns.add(Type.LONG, "asks", "asks_shrunk", "asks_blocked", "asks_binding");
        columns.add(Type.LONG, "compared", "exact", "within_clock_step", "different", "largest_difference");
        columns.addCompleteness().add(Type.STRING, "source");
        return List.copyOf(columns.list);
    }

    private static final class Columns {
        private final List<Column> list = new ArrayList<>();

        Columns add(Type type, String... names) {
            for (String name : names) {
                list.add(new Column(name, type));
            }
            return this;
        }

        Columns addWindow() {
            return add(Type.TIMESTAMP, "window_start", "window_end").add(Type.INT, "clock_segment");
        }

        Columns addCompleteness() {
            return add(Type.BOOLEAN, "complete").add(Type.STRING, "incomplete_reason").add(Type.DOUBLE, "completeness");
        }

        Columns addByLevel(String name) {
            LEVELS.forEach(level -> add(Type.LONG, name.formatted(level)));
            return this;
        }

        void addSix(String name) {
            DIMENSIONS.forEach(dimension -> LEVELS.forEach(level -> add(Type.LONG, name.formatted(dimension, level))));
        }
    }
}
