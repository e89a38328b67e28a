package peers.rules;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The entities of one epoch of a broker, and what each event changes. */
final class BrokerProcess {
    final Connections connections = new Connections();
    private final long brokerId;
    private final Map<Long, Topic> topics = new HashMap<>();
    private final Map<Long, Subscription> subscriptions = new HashMap<>();
    /** Null before its first rate. */
    private Limiter limiter;
    private boolean started;
    private boolean batchMode;
    /** Dispatchers with an event in the open window, or blocked when it began; closed ones too. */
    private List<Dispatcher> activeDispatchers = new ArrayList<>();
    /** Limiters with an event in the open window; closed ones too. */
    private List<Limiter> activeLimiters = new ArrayList<>();
    /** Number of the open window; limiters of earlier ones begin theirs with the balance at {@link #borderNs}. */
    private long window;
    private long borderNs;

    BrokerProcess(long brokerId) {
        this.brokerId = brokerId;
    }

    void start() {
        started = true;
    }

    void setBatchMode(boolean enabled) {
        batchMode = enabled;
    }

    Topic topic(long id) {
        Topic topic = topics.get(id);
        if (topic == null) {
            topic = new Topic(id, false);
            topics.put(id, topic);
        }
        return topic;
    }

    Subscription subscription(long topicId, long id) {
        Subscription subscription = subscriptions.get(id);
        if (subscription == null) {
            Topic topic = topic(topicId);
            subscription = new Subscription(id, topic);
            topic.subscriptions.add(subscription);
            subscriptions.put(id, subscription);
        }
        return subscription;
    }

    void loadTopic(long id) {
        topics.put(id, new Topic(id, true));
    }

    /** The topic's object is dropped, with all that is its own. */
    void unloadTopic(long id, long ts, long ns) {
        Topic topic = topics.remove(id);
        if (topic == null) {
            return;
        }
        for (Subscription subscription : topic.subscriptions) {
            closeDispatcher(subscription, ts, ns);
            connections.closeConsumersOf(subscription);
            subscriptions.remove(subscription.id);
        }
        closeLimiter(topic.limiter, ts, ns);
    }

    void dispatchRate(Event.DispatchRate event) {
        switch (event.level) {
            case Level.BROKER -> limiter = applied(limiter, event, started);
            case Level.TOPIC -> {
                Topic topic = topic(event.topicId);
                topic.limiter = applied(topic.limiter, event, topic.loadSeen);
            }
            default -> {
                Subscription subscription = subscription(event.topicId, event.subId);
                Dispatcher dispatcher = touched(subscription, event.ts);
                subscription.limiter = applied(subscription.limiter, event, dispatcher.complete);
            }
        }
    }

    private Limiter applied(Limiter known, Event.DispatchRate event, boolean complete) {
        Limiter applied = known;
        if (applied == null) {
            applied = new Limiter(event, complete, window);
            activeLimiters.add(applied);
        }
        inWindow(applied).apply(event);
        return applied;
    }

    void openDispatcher(Event.DispatcherOpen event) {
        Subscription subscription = subscription(event.topicId, event.subId);
        closeDispatcher(subscription, event.ts, event.ns);
        subscription.position.meet(subscription.topic.ledgers);
        subscription.dispatcher = Dispatcher.opened(subscription, event, batchMode);
        touched(subscription, event.ts);
    }

    void closeDispatcher(Subscription subscription, long ts, long ns) {
        Dispatcher dispatcher = subscription.dispatcher;
        if (dispatcher == null) {
            return;
        }
        touched(subscription, ts);
        dispatcher.close(ts, ns);
        closeLimiter(subscription.limiter, ts, ns);
        subscription.dispatcher = null;
        subscription.limiter = null;
    }

    private void closeLimiter(Limiter ending, long ts, long ns) {
        if (ending != null) {
            inWindow(ending).close(ts, ns);
        }
    }

    void read(Event.Read event) {
        Subscription subscription = subscription(event.topicId, event.subId);
        Ledgers ledgers = subscription.topic.ledgers;
        subscription.position.meet(ledgers);
        Dispatcher dispatcher = touched(subscription, event.ts);
        if (event.wantMsgs == 1 && !event.onePermit && connections.anyUnwritable() && subscription.isUnwritable()) {
            dispatcher.counts.readsByUnwritableChannel++;
        }
        long waitingEntries = subscription.position.waitingEntries(ledgers);
        long waitingBytes = subscription.position.waitingBytes(ledgers);
        new ReadRules(event, limitersOf(subscription), waitingEntries, waitingBytes).evaluate(dispatcher);
    }

    void dispatch(Event.Dispatch event) {
        Subscription subscription = subscription(event.topicId, event.subId);
        Ledgers ledgers = subscription.topic.ledgers;
        subscription.position.meet(ledgers);
        Dispatcher dispatcher = touched(subscription, event.ts);
        subscription.position.advance(ledgers, event.entries, event.bytes);
        dispatcher.countDispatch(event);
        if (!event.charged) {
            return;
        }
        long permits = dispatcher.batchMode ? event.entries : event.msgs;
        for (Limiter charged : limitersOf(subscription)) {
            if (charged != null) {
                charged.consume(Dimension.MSG, permits, event.ns);
                charged.consume(Dimension.BYTES, event.bytes, event.ns);
            }
        }
    }

    /** By level, null where there is none; their uses are of the open window. */
    private Limiter[] limitersOf(Subscription subscription) {
        return new Limiter[] {inWindow(limiter), inWindow(subscription.topic.limiter), inWindow(subscription.limiter)};
    }

    /** The open dispatcher, in the open window's rows; met here if its opening was not seen. */
    private Dispatcher touched(Subscription subscription, long ts) {
        if (subscription.dispatcher == null) {
            subscription.dispatcher = Dispatcher.met(subscription, ts, batchMode);
        }
        Dispatcher dispatcher = subscription.dispatcher;
        dispatcher.touched = true;
        if (!dispatcher.active) {
            dispatcher.active = true;
            activeDispatchers.add(dispatcher);
        }
        return dispatcher;
    }

    private Limiter inWindow(Limiter used) {
        if (used != null && used.window != window) {
            used.beginWindow(window, borderNs);
            activeLimiters.add(used);
        }
        return used;
    }

    /** The wall clock was set: ({@code ts}, {@code ns}) is one instant. */
    void stepClock(long ts, long ns) {
        activeDispatchers.forEach(dispatcher -> dispatcher.stepClock(ts, ns));
    }

    /** Whether a blocked read lasts until {@code ns}. */
    boolean hasBlocked(long ns) {
        return activeDispatchers.stream().anyMatch(dispatcher -> dispatcher.isBlockedBefore(ns));
    }

    /** The process is gone: everything that lives ends. */
    void end(long ts, long ns) {
        for (Long id : List.copyOf(topics.keySet())) {
            unloadTopic(id, ts, ns);
        }
        closeLimiter(limiter, ts, ns);
        limiter = null;
    }

    void closeWindow(Window closing, Outcomes out) {
        closeWindowOfDispatchers(closing, out);
        closeWindowOfLimiters(closing, out);
        window++;
        borderNs = closing.borderNs();
    }

    private void closeWindowOfDispatchers(Window closing, Outcomes out) {
        List<Dispatcher> blocked = new ArrayList<>();
        for (Dispatcher dispatcher : activeDispatchers) {
            if (!dispatcher.isClosed()) {
                dispatcher.passBorder(closing);
                dispatcher.noteWaiting();
            }
            if (dispatcher.touched) {
                out.add(Tables.SUBSCRIPTION_THROTTLE, dispatcher.row(brokerId, closing));
                dispatcher.beginWindow();
            }
            dispatcher.active = dispatcher.isBlocked();
            if (dispatcher.active) {
                blocked.add(dispatcher);
            }
        }
        activeDispatchers = blocked;
    }

    private void closeWindowOfLimiters(Window closing, Outcomes out) {
        for (Limiter used : activeLimiters) {
            for (int dimension = 0; dimension < Dimension.COUNT; dimension++) {
                if (used.use(dimension).isWorthARow(used.closedAt != Outcomes.NULL)) {
                    out.add(Tables.LIMITER_WINDOWS, limiterRow(used, dimension, closing));
                }
            }
        }
        activeLimiters = new ArrayList<>();
    }

    private Object[] limiterRow(Limiter used, int dimension, Window closing) {
        LimiterUse use = used.use(dimension);
        long permitsEnd = used.permitsEnd(dimension, closing.borderNs());
        return new RowBuilder(Tables.LIMITER_WINDOWS)
                .add(brokerId, closing.epoch())
                .add(Level.NAMES[used.level])
                .add(used.topicId, used.subId)
                .add(Dimension.NAMES[dimension])
                .add(used.createdAt)
                .addWindow(closing)
                .addTime(used.closedAt)
                .add(used.classic ? "classic" : "token_bucket")
                .add(use.shownRate, used.periodMs)
                .add((Object) used.relative)
                .add(use.applied, use.permitsStart, permitsEnd, use.used, use.overDelivered, Math.max(0, -permitsEnd))
                .add(use.asks, use.asksShrunk, use.asksBlocked, use.asksBinding)
                .add(use.compared, use.exact, use.withinClockStep, use.different, use.largestDifference)
                .addCompleteness(used.complete)
                .addSource(use.asks, use.asksModelled)
                .values();
    }
}
