package peers.rules;

/** The columns of bronze that the peers read, in the order in which they read them. */
public enum BronzeColumn {
    BROKER_ID(Kind.LONG),
    EPOCH(Kind.LONG),
    SEQ(Kind.LONG),
    TS(Kind.LONG),
    NS(Kind.LONG),
    TYPE_CODE(Kind.INT),
    TOPIC_ID(Kind.LONG),
    SUB_ID(Kind.LONG),
    SETTINGS(Kind.TEXTS),
    KEY(Kind.TEXT),
    VALUE(Kind.TEXT),
    LEVEL(Kind.TEXT),
    MSG_RATE(Kind.LONG),
    BYTE_RATE(Kind.LONG),
    PERIOD_S(Kind.LONG),
    RELATIVE(Kind.FLAG),
    LIMITER(Kind.TEXT),
    SUB_TYPE(Kind.TEXT),
    LEDGER(Kind.LONG),
    ENTRY(Kind.LONG),
    ENTRIES(Kind.LONG),
    BYTES(Kind.LONG),
    MSGS(Kind.LONG),
    CONSUMER(Kind.LONG),
    CONN(Kind.LONG),
    PERMITS(Kind.LONG),
    WANT_MSGS(Kind.LONG),
    WANT_BYTES(Kind.LONG),
    BROKER_MSGS(Kind.LONG),
    BROKER_BYTES(Kind.LONG),
    TOPIC_MSGS(Kind.LONG),
    TOPIC_BYTES(Kind.LONG),
    SUB_MSGS(Kind.LONG),
    SUB_BYTES(Kind.LONG),
    LEFT_MSGS(Kind.LONG),
    LEFT_BYTES(Kind.LONG),
    ASKED_NS(Kind.LONG),
    CHARGED(Kind.FLAG),
    PERSISTED(Kind.FLAG),
    RESET(Kind.FLAG),
    WRITABLE(Kind.FLAG);

    /** What a column holds; TEXTS is a map of text to text. */
    public enum Kind {
        LONG,
        INT,
        TEXT,
        FLAG,
        TEXTS
    }

    public final Kind kind;

    BronzeColumn(Kind kind) {
        this.kind = kind;
    }

    /** Its name in bronze. */
    public String columnName() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }
}
