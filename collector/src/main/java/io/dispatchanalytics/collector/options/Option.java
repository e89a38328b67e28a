package io.dispatchanalytics.collector.options;

import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Every option of the agent, once: the parser, its messages and docs/guide/collector.md follow from this list. */
public enum Option {
    DIR("dir", Kind.TEXT, "", "Folder of the log files. It is made when it is missing. Brokers may share a folder"),
    ROLL_S("roll_s", Kind.COUNT, "30", "A file is finished when it is this old, in seconds. Readers of finished files wait for that"),
    ROLL_MB("roll_mb", Kind.COUNT, "64", "A file is finished when it is this large, in MiB, compressed"),
    KEEP_MB("keep_mb", Kind.COUNT, "10240", "Finished files of this broker may fill this much of the folder, in MiB. Older files are deleted"),
    FLUSH_MS("flush_ms", Kind.COUNT, "1000", "Events reach the file after this time at most, in ms. A crash loses no more than this"),
    QUEUE_MB("queue_mb", Kind.COUNT, "32", "Memory for events that wait for the disk, in MiB. Events beyond are lost and counted"),
    FLOW_MS("flow_ms", Kind.COUNT, "100", "Permits that a consumer grants within this time become one event `flow` with their sum, in ms"),
    STATE_S("state_s", Kind.COUNT_OR_OFF, "10",
            "The state of the broker is written this often, in seconds, and at the start of a file. `0`: never"),
    TOPICS("topics", Kind.NAMES, "plain", "Topic names: `plain`, `hash`, or `omit` (a number instead)"),
    SUBS("subs", Kind.NAMES, "plain", "Subscription names: `plain`, `hash`, or `omit` (a number instead)"),
    REMOTES("remotes", Kind.NAMES, "plain",
            "Client addresses, names of consumers and producers: `plain`, `hash`, or `omit` (the field is left out)"),
    HASH_KEY_FILE("hash_key_file", Kind.TEXT, "", "File with the secret key of hashes. Without a file the key is random and new at each start");

    /** What a value must look like. */
    public enum Kind { TEXT, COUNT, COUNT_OR_OFF, NAMES }

    /** As it is written in the option string. */
    public final String key;
    /** What its value must look like. */
    public final Kind kind;
    /** Its value when it is not given; empty: none. */
    public final String byDefault;
    /** For docs and messages, without a full stop. */
    public final String meaning;

    Option(String key, Kind kind, String byDefault, String meaning) {
        this.key = key;
        this.kind = kind;
        this.byDefault = byDefault;
        this.meaning = meaning;
    }

    /** The option of this key. */
    static Optional<Option> of(String key) {
        return Stream.of(values()).filter(option -> option.key.equals(key)).findFirst();
    }

    /** All keys, for messages. */
    static String keys() {
        return Stream.of(values()).map(option -> option.key).collect(Collectors.joining(", "));
    }

    /** The table of docs/guide/collector.md. */
    public static String markdown() {
        return "| option | default | meaning |\n|---|---|---|\n" + Stream.of(values()).map(Option::row).collect(Collectors.joining());
    }

    private String row() {
        String shown = this == DIR ? "none, must be given" : byDefault.isEmpty() ? "none" : "`" + byDefault + "`";
        return "| `" + key + "` | " + shown + " | " + meaning + " |\n";
    }
}
