package io.dispatchanalytics.collector.broker;

import io.dispatchanalytics.collector.log.Event;
import io.dispatchanalytics.collector.log.Json;

/** Types and keys of the log's contract, as bytes. */
public final class Fields {
    public static final byte[] BROKER_START = Event.type("broker_start");
    public static final byte[] BROKER_STOP = Event.type("broker_stop");
    public static final byte[] SETTING = Event.type("setting");
    public static final byte[] HEARTBEAT = Event.type("heartbeat");
    public static final byte[] DISPATCH_RATE = Event.type("dispatch_rate");
    public static final byte[] BACKLOG_QUOTA = Event.type("backlog_quota");
    public static final byte[] TOPIC_LOAD = Event.type("topic_load");
    public static final byte[] TOPIC_UNLOAD = Event.type("topic_unload");
    public static final byte[] LEDGER_OPEN = Event.type("ledger_open");
    public static final byte[] LEDGER_CLOSE = Event.type("ledger_close");
    public static final byte[] LEDGER_TRIM = Event.type("ledger_trim");
    public static final byte[] CURSOR_OPEN = Event.type("cursor_open");
    public static final byte[] CURSOR_CLOSE = Event.type("cursor_close");
    public static final byte[] DISPATCHER_OPEN = Event.type("dispatcher_open");
    public static final byte[] DISPATCHER_CLOSE = Event.type("dispatcher_close");
    public static final byte[] CONSUMER_OPEN = Event.type("consumer_open");
    public static final byte[] CONSUMER_CLOSE = Event.type("consumer_close");
    public static final byte[] PRODUCER_OPEN = Event.type("producer_open");
    public static final byte[] PRODUCER_CLOSE = Event.type("producer_close");
    public static final byte[] PUBLISH = Event.type("publish");
    public static final byte[] READ = Event.type("read");
    public static final byte[] DISPATCH = Event.type("dispatch");
    public static final byte[] ACK = Event.type("ack");
    public static final byte[] MARK_DELETE = Event.type("mark_delete");
    public static final byte[] QUOTA_ROUND = Event.type("quota_round");
    public static final byte[] QUOTA_CHECK = Event.type("quota_check");
    public static final byte[] QUOTA_EXCEEDED = Event.type("quota_exceeded");
    public static final byte[] CONN_OPEN = Event.type("conn_open");
    public static final byte[] CONN_CLOSE = Event.type("conn_close");
    public static final byte[] WRITABILITY = Event.type("writability");
    public static final byte[] THROTTLE = Event.type("throttle");
    public static final byte[] REQUEST = Event.type("request");
    public static final byte[] FLOW = Event.type("flow");
    public static final byte[] CONSUMER_BLOCKED = Event.type("consumer_blocked");
    public static final byte[] DELAYED = Event.type("delayed");
    public static final byte[] REDELIVER = Event.type("redeliver");
    public static final byte[] READ_DONE = Event.type("read_done");
    public static final byte[] POLICY_SET = Event.type("policy_set");
    public static final byte[] PUBLISH_RATE = Event.type("publish_rate");
    public static final byte[] COMPACTION = Event.type("compaction");
    public static final byte[] TRANSACTION = Event.type("transaction");

    public static final byte[] DROPPED = Json.key("dropped");
    public static final byte[] PENDING_BYTES = Json.key("pending_bytes");
    public static final byte[] MSG_RATE = Json.key("msg_rate");
    public static final byte[] BYTE_RATE = Json.key("byte_rate");
    public static final byte[] PERIOD_S = Json.key("period_s");
    public static final byte[] RELATIVE = Json.key("relative");
    public static final byte[] LIMIT = Json.key("limit");
    public static final byte[] LEDGER = Json.key("ledger");
    public static final byte[] ENTRY = Json.key("entry");
    public static final byte[] ENTRIES = Json.key("entries");
    public static final byte[] BYTES = Json.key("bytes");
    public static final byte[] CLOSE_TS = Json.key("close_ts");
    public static final byte[] DURABLE = Json.key("durable");
    public static final byte[] CONSUMER = Json.key("consumer");
    public static final byte[] PRODUCER = Json.key("producer");
    public static final byte[] CONN = Json.key("conn");
    public static final byte[] MSGS = Json.key("msgs");
    public static final byte[] PUBLISH_TS = Json.key("publish_ts");
    public static final byte[] PERMITS = Json.key("permits");
    public static final byte[] WANT_MSGS = Json.key("want_msgs");
    public static final byte[] WANT_BYTES = Json.key("want_bytes");
    public static final byte[] LEFT_MSGS = Json.key("left_msgs");
    public static final byte[] LEFT_BYTES = Json.key("left_bytes");
    public static final byte[] ASKED_NS = Json.key("asked_ns");
    public static final byte[] ACK_SET = Json.key("ack_set");
    public static final byte[] PERSISTED = Json.key("persisted");
    public static final byte[] DURATION_US = Json.key("duration_us");
    public static final byte[] WRITABLE = Json.key("writable");
    public static final byte[] ON = Json.key("on");
    public static final byte[] AVG_MSGS = Json.key("avg_msgs_per_s");
    public static final byte[] AVG_BYTES = Json.key("avg_bytes_per_s");
    public static final byte[] COMMANDS = Json.key("commands");
    public static final byte[] UNACKED_MSGS = Json.key("unacked_msgs");

    private Fields() { }
}
