package peers.rules;

/** Numbers of event types, as bronze has them in {@code type_code}. */
final class EventTypes {
    static final int OTHER = 0;
    static final int BROKER_START = 1;
    static final int BROKER_STOP = 2;
    static final int SETTING = 3;
    static final int DISPATCH_RATE = 5;
    static final int TOPIC_LOAD = 7;
    static final int TOPIC_UNLOAD = 8;
    static final int LEDGER_OPEN = 9;
    static final int LEDGER_CLOSE = 10;
    static final int LEDGER_TRIM = 11;
    static final int CURSOR_OPEN = 12;
    static final int CURSOR_CLOSE = 13;
    static final int DISPATCHER_OPEN = 14;
    static final int DISPATCHER_CLOSE = 15;
    static final int CONSUMER_OPEN = 16;
    static final int CONSUMER_CLOSE = 17;
    static final int PUBLISH = 20;
    static final int READ = 21;
    static final int DISPATCH = 22;
    static final int MARK_DELETE = 24;
    static final int CONN_OPEN = 28;
    static final int CONN_CLOSE = 29;
    static final int WRITABILITY = 30;

    private EventTypes() {}
}
