package io.dispatchanalytics.collector.broker;

import io.dispatchanalytics.collector.log.Event;
import io.dispatchanalytics.collector.log.EventQueue;
import io.dispatchanalytics.collector.log.Fragments;
import io.dispatchanalytics.collector.log.Json;
import io.dispatchanalytics.collector.names.Names;
import org.apache.pulsar.broker.service.Dispatcher;

/** One evaluation of read limits: what the dispatcher wanted and what each limiter answered. Each thread has one. */
public final class ReadWalk {
    private static final ThreadLocal<ReadWalk> OF_THREAD = ThreadLocal.withInitial(ReadWalk::new);
    private static final byte[][] KEYS = {
        Json.key("broker_msgs"), Json.key("broker_bytes"), Json.key("topic_msgs"), Json.key("topic_bytes"),
        Json.key("sub_msgs"), Json.key("sub_bytes"),
    };
    private static final int BYTES_AFTER_MSGS = 1;
    /** What no limiter answers: −1 is an answer. */
    private static final long NOT_ASKED = Long.MIN_VALUE;
    private static final Fragments SUB_TYPES = new Fragments("sub_type");

    private static final byte[][] TOKEN_KEYS = {
        Json.key("broker_msgs_tokens"), Json.key("broker_bytes_tokens"), Json.key("topic_msgs_tokens"), Json.key("topic_bytes_tokens"),
        Json.key("sub_msgs_tokens"), Json.key("sub_bytes_tokens"),
    };

    private final long[] answers = new long[KEYS.length];
    private final long[] tokens = new long[KEYS.length];
    private boolean running;
    private boolean hasPermits;
    private long permits;
    private long wantMsgs;
    private long wantBytes;
    private long askedNs;

    private ReadWalk() { }

    /** This thread's. */
    public static ReadWalk current() {
        return OF_THREAD.get();
    }

    /** A dispatcher begins to compute how much to read. */
    public void permits(long now) {
        hasPermits = true;
        permits = now;
    }

    /** It has ended: what follows on this thread has other permits. */
    public void forgetPermits() {
        hasPermits = false;
    }

    /** The walk through the limiters begins. */
    public void begin(long msgs, long bytes) {
        running = true;
        wantMsgs = msgs;
        wantBytes = bytes;
        askedNs = 0;
        java.util.Arrays.fill(answers, NOT_ASKED);
    }

    /** A limiter answered; outside of a walk somebody else asked, for a statistic. */
    public void answered(Object limiterType, boolean bytes, long answer, Object limiter) {
        if (!running) {
            return;
        }
        if (askedNs == 0) {
            askedNs = System.nanoTime();
        }
        String level = Policies.level(limiterType);
        if (level != null) {
            int at = switch (level) {
                case "broker" -> 0;
                case "topic" -> 2;
                default -> 4;
            };
            int place = at + (bytes ? BYTES_AFTER_MSGS : 0);
            answers[place] = answer;
            tokens[place] = LimiterTokens.after(answer, limiter);
        }
    }

    /** The walk has ended with these limits. */
    public void end(EventQueue queue, Topics topics, Dispatcher dispatcher, String topic, String sub, long leftMsgs, long leftBytes) {
        running = false;
        byte[] fragment = fragment(topics, topic, sub);
        if (fragment == null) {
            return;
        }
        Event event = Event.of(Fields.READ).with(fragment).with(SUB_TYPES.of(dispatcher.getType().name()));
        if (hasPermits) {
            event.number(Fields.PERMITS, permits);
        }
        event.number(Fields.WANT_MSGS, wantMsgs).number(Fields.WANT_BYTES, wantBytes);
        for (int at = 0; at < answers.length; at++) {
            if (answers[at] != NOT_ASKED) {
                event.number(KEYS[at], answers[at]);
            }
        }
        event.number(Fields.LEFT_MSGS, leftMsgs).number(Fields.LEFT_BYTES, leftBytes);
        if (askedNs != 0) {
            event.number(Fields.ASKED_NS, askedNs);
        }
        for (int at = 0; at < answers.length; at++) {
            // Without a rate there are no books.
            if (answers[at] >= 0) {
                event.number(TOKEN_KEYS[at], tokens[at]);
            }
        }
        queue.put(event);
    }

    /** Reads of a system topic are written only where a limiter with a rate was asked: they draw on what others share. */
    private byte[] fragment(Topics topics, String topic, String sub) {
        LoadedTopic loaded = topics.of(topic);
        if (loaded != null) {
            return loaded.sub(sub).fragment;
        }
        return Names.isOfSystem(topic) && hasRate() ? topics.fragment(topic, sub) : null;
    }

    private boolean hasRate() {
        for (long answer : answers) {
            if (answer >= 0) {
                return true;
            }
        }
        return false;
    }
}
