package peers.rules;

import static peers.rules.BronzeColumn.*;

import peers.rules.Event.Head;

/** A row of bronze, whatever engine read it, and the event that it is. */
public abstract class BronzeRow {
    private static final String BATCH_MODE = "dispatchThrottlingOnBatchMessageEnabled";
    private static final BronzeColumn[] ANSWERS = {BROKER_MSGS, BROKER_BYTES, TOPIC_MSGS, TOPIC_BYTES, SUB_MSGS, SUB_BYTES};

    protected abstract boolean isNull(BronzeColumn column);

    /** A column that is not null. */
    protected abstract long number(BronzeColumn column);

    protected abstract int smallNumber(BronzeColumn column);

    protected abstract boolean flag(BronzeColumn column);

    protected abstract String text(BronzeColumn column);

    /** The value of a key of SETTINGS, or null. */
    protected abstract String setting(String key);

    public final Event event() {
        long ts = number(TS);
        Head head = new Head(number(EPOCH), number(SEQ), ts, numberOr(NS, ts * 1000));
        int code = smallNumber(TYPE_CODE);
        return switch (code) {
            case EventTypes.BROKER_START -> new Event.BatchModeSet(head, code, batchMode(isNull(SETTINGS) ? null : setting(BATCH_MODE)));
            case EventTypes.SETTING -> new Event.BatchModeSet(head, code, batchMode(BATCH_MODE.equals(text(KEY)) ? text(VALUE) : null));
            case EventTypes.BROKER_STOP -> new Event.BrokerStop(head);
            case EventTypes.DISPATCH_RATE -> dispatchRate(head);
            case EventTypes.TOPIC_LOAD, EventTypes.TOPIC_UNLOAD -> new Event.TopicLife(head, code, number(TOPIC_ID));
            case EventTypes.LEDGER_OPEN, EventTypes.LEDGER_CLOSE, EventTypes.LEDGER_TRIM ->
                new Event.LedgerLife(head, code, number(TOPIC_ID), number(LEDGER), numberOr(ENTRIES, 0), numberOr(BYTES, 0));
            case EventTypes.CURSOR_OPEN ->
                new Event.CursorOpen(head, number(TOPIC_ID), number(SUB_ID), number(LEDGER), number(ENTRY), numberOr(ENTRIES, 0));
            case EventTypes.CURSOR_CLOSE, EventTypes.DISPATCHER_CLOSE ->
                new Event.SubscriptionEnd(head, code, number(TOPIC_ID), number(SUB_ID));
            case EventTypes.DISPATCHER_OPEN ->
                new Event.DispatcherOpen(head, number(TOPIC_ID), number(SUB_ID), Tables.SUB_TYPES.indexOf(text(SUB_TYPE)));
            case EventTypes.CONSUMER_OPEN, EventTypes.CONSUMER_CLOSE ->
                new Event.ConsumerLife(head, code, number(TOPIC_ID), number(SUB_ID), number(CONSUMER), number(CONN));
            case EventTypes.PUBLISH -> new Event.Publish(head, number(TOPIC_ID), number(LEDGER), number(ENTRY), number(BYTES));
            case EventTypes.READ -> read(head);
            case EventTypes.DISPATCH ->
                new Event.Dispatch(
                        head, number(TOPIC_ID), number(SUB_ID), number(ENTRIES), number(MSGS), number(BYTES), isNull(CHARGED) || flag(CHARGED));
            case EventTypes.MARK_DELETE ->
                new Event.MarkDelete(
                        head, number(TOPIC_ID), number(SUB_ID), number(LEDGER), number(ENTRY), flag(PERSISTED), !isNull(RESET) && flag(RESET));
            case EventTypes.CONN_OPEN, EventTypes.CONN_CLOSE -> new Event.ConnectionLife(head, code, number(CONN));
            case EventTypes.WRITABILITY -> new Event.Writability(head, number(CONN), flag(WRITABLE));
            default -> new Event.Other(head);
        };
    }

    private Event dispatchRate(Head head) {
        return new Event.DispatchRate(
                head, Tables.LEVELS.indexOf(text(LEVEL)), number(TOPIC_ID), number(SUB_ID), number(MSG_RATE), number(BYTE_RATE),
                number(PERIOD_S), flag(RELATIVE), "classic".equals(text(LIMITER)));
    }

    private Event read(Head head) {
        int answered = 0;
        long[] answers = new long[ANSWERS.length];
        for (int k = 0; k < answers.length; k++) {
            answers[k] = Limiter.UNLIMITED;
            if (!isNull(ANSWERS[k])) {
                answers[k] = number(ANSWERS[k]);
                answered |= 1 << k / 2;
            }
        }
        boolean onePermit = !isNull(PERMITS) && number(PERMITS) <= 1;
        return new Event.Read(
                head, number(TOPIC_ID), number(SUB_ID), onePermit, number(WANT_MSGS), number(WANT_BYTES), answered,
                answered == 0 ? null : answers, numberOr(LEFT_MSGS, Event.ABSENT), numberOr(LEFT_BYTES, Event.ABSENT),
                numberOr(ASKED_NS, Event.ABSENT));
    }

    private long numberOr(BronzeColumn column, long otherwise) {
        return isNull(column) ? otherwise : number(column);
    }

    private static long batchMode(String text) {
        if (text == null) {
            return Event.ABSENT;
        }
        return text.equalsIgnoreCase("true") ? 1 : 0;
    }
}
