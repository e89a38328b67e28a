package io.dispatchanalytics.collector.options;

import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;

/** The checked options of one run. */
public final class Options {
    private static final long MIB = 1 << 20;
    private static final long MOST = 1_000_000;
    /** The queue is one array of Java, whose length is an int. */
    private static final long MOST_QUEUE_MB = 1024;

    private final Map<Option, String> given;

    private Options(Map<Option, String> given) {
        this.given = given;
    }

    /** Of `key=value,key=value`. Every value is checked here, so nothing fails later on the broker's threads. */
    public static Options parse(String text) throws BadOption {
        Map<Option, String> given = new EnumMap<>(Option.class);
        for (String pair : text == null ? new String[0] : text.split(",")) {
            if (!pair.isBlank()) {
                add(pair.strip(), given);
            }
        }
        if (!given.containsKey(Option.DIR)) {
            throw new BadOption("the option dir is missing: give the folder of the log files, dir=/var/log/pulsar-events");
        }
        Options options = new Options(given);
        if (options.count(Option.QUEUE_MB) > MOST_QUEUE_MB) {
            throw new BadOption("queue_mb=" + options.count(Option.QUEUE_MB) + " is too much: at most " + MOST_QUEUE_MB);
        }
        return options;
    }

    private static void add(String pair, Map<Option, String> given) throws BadOption {
        int at = pair.indexOf('=');
        if (at < 0) {
            throw new BadOption("'" + pair + "' is no option: expected key=value; options are separated by commas, a value has none");
        }
        String key = pair.substring(0, at);
        String value = pair.substring(at + 1);
        Option option = Option.of(key).orElse(null);
        if (option == null) {
            throw new BadOption("unknown option " + key + ": the options are " + Option.keys());
        }
        check(option, value);
        if (given.put(option, value) != null) {
            throw new BadOption("the option " + key + " is given twice");
        }
    }

    private static void check(Option option, String value) throws BadOption {
        boolean good = switch (option.kind) {
            case TEXT -> !value.isBlank();
            case COUNT -> value.matches("[1-9][0-9]{0,6}") && Long.parseLong(value) <= MOST;
            case COUNT_OR_OFF -> value.equals("0") || value.matches("[1-9][0-9]{0,6}") && Long.parseLong(value) <= MOST;
            case NAMES -> value.matches("plain|hash|omit");
        };
        if (!good) {
            String expected = switch (option.kind) {
                case TEXT -> "a path";
                case COUNT -> "a whole number from 1 to " + MOST;
                case COUNT_OR_OFF -> "a whole number from 0 to " + MOST;
                case NAMES -> "plain, hash or omit";
            };
            throw new BadOption(option.key + "=" + value + ": expected " + expected);
        }
    }

    private String value(Option option) {
        return given.getOrDefault(option, option.byDefault);
    }

    private long count(Option option) {
        return Long.parseLong(value(option));
    }

    /** The folder of the log. */
    public Path folder() {
        return Path.of(value(Option.DIR));
    }

    /** Age at which a file is finished. */
    public long rollNs() {
        return count(Option.ROLL_S) * 1_000_000_000L;
    }

    /** Compressed size at which a file is finished. */
    public long rollBytes() {
        return count(Option.ROLL_MB) * MIB;
    }

    /** What finished files may fill. */
    public long keepBytes() {
        return count(Option.KEEP_MB) * MIB;
    }

    /** After this time events are in the file. */
    public long flushNs() {
        return count(Option.FLUSH_MS) * 1_000_000L;
    }

    /** Permits granted within this time become one event. */
    public long flowNs() {
        return count(Option.FLOW_MS) * 1_000_000L;
    }

    /** What the broker holds is written this often; 0: never. */
    public long stateNs() {
        return count(Option.STATE_S) * 1_000_000_000L;
    }

    /** Memory of the queue. */
    public int queueBytes() {
        return (int) (count(Option.QUEUE_MB) * MIB - 16);
    }

    /** How this kind of name appears: one of TOPICS, SUBS, REMOTES. */
    public NameStyle style(Option names) {
        return NameStyle.valueOf(value(names).toUpperCase(Locale.ROOT));
    }

    /** File of the key of hashes, or null. */
    public Path hashKeyFile() {
        return given.containsKey(Option.HASH_KEY_FILE) ? Path.of(given.get(Option.HASH_KEY_FILE)) : null;
    }

    /** As given, with defaults: printed at start. */
    @Override
    public String toString() {
        StringBuilder all = new StringBuilder();
        for (Option option : Option.values()) {
            if (!value(option).isEmpty()) {
                all.append(all.isEmpty() ? "" : ",").append(option.key).append('=').append(value(option));
            }
        }
        return all.toString();
    }
}
