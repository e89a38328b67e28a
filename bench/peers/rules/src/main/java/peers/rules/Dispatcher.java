package peers.rules;

/** A dispatcher from its opening to its end, and what limiters did to it in the open window. */
final class Dispatcher {
    private static final int UNKNOWN_TYPE = -1;
    private static final long NOTHING_GRANTED = -1;

    final Subscription subscription;
    final boolean complete;
    /** Frozen when it was opened: entries are charged in place of messages. */
    final boolean batchMode;
    DispatcherCounts counts = new DispatcherCounts();
    /** Whether a row of the open window is due. */
    boolean touched;
    /** Whether its process looks at it when the open window closes. */
    boolean active;
    private final long openedAt;
    private final int subType;
    private final long[] throttledSinceOpen = new long[2 * Level.COUNT];
    private final long[] modelledSinceOpen = new long[2 * Level.COUNT];
    private long closedAt = Outcomes.NULL;
    private int blockedLevel = Level.NONE;
    private long blockedAtNs;
    private long blockedAtTs;
    private long grantedEntries = NOTHING_GRANTED;
    private long grantedBytes = NOTHING_GRANTED;
    private long waitingEntries;
    private long waitingBytes;

    private Dispatcher(Subscription subscription, long openedAt, int subType, boolean complete, boolean batchMode) {
        this.subscription = subscription;
        this.openedAt = openedAt;
        this.subType = subType;
        this.complete = complete;
        this.batchMode = batchMode;
    }

    static Dispatcher opened(Subscription subscription, Event.DispatcherOpen event, boolean batchMode) {
        return new Dispatcher(subscription, event.ts, event.subType, subscription.topic.loadSeen, batchMode);
    }

    /** One that is met without its opening. */
    static Dispatcher met(Subscription subscription, long ts, boolean batchMode) {
        return new Dispatcher(subscription, ts, UNKNOWN_TYPE, false, batchMode);
    }

    boolean isBlocked() {
        return blockedLevel != Level.NONE;
    }

    boolean isClosed() {
        return closedAt != Outcomes.NULL;
    }

    boolean isBlockedBefore(long ns) {
        return isBlocked() && blockedAtNs < ns;
    }

    void countModelled(Walk walk) {
        count(walk, counts.modelled, modelledSinceOpen);
    }

    void countThrottled(Walk walk) {
        count(walk, counts.throttled, throttledSinceOpen);
    }

    private static void count(Walk walk, long[] inWindow, long[] sinceOpen) {
        if (!walk.loweredAnything()) {
            return;
        }
        for (int level = 0; level < Level.COUNT; level++) {
            for (int dimension = 0; dimension < Dimension.COUNT; dimension++) {
                if (walk.lowered(level, dimension)) {
                    inWindow[2 * level + dimension]++;
                    sinceOpen[2 * level + dimension]++;
                }
            }
        }
    }

    void countDispatch(Event.Dispatch event) {
        counts.dispatches++;
        counts.dispatchedEntries = Saturating.add(counts.dispatchedEntries, event.entries);
        counts.dispatchedMsgs = Saturating.add(counts.dispatchedMsgs, event.msgs);
        counts.dispatchedBytes = Saturating.add(counts.dispatchedBytes, event.bytes);
        if (grantedEntries != NOTHING_GRANTED && (event.entries > grantedEntries || event.bytes > grantedBytes)) {
            counts.oversizedDispatches++;
        }
        if (!event.charged) {
            counts.unchargedMsgs = Saturating.add(counts.unchargedMsgs, event.msgs);
        }
    }

    /** A read ends the blocked stretch, and begins one if it was blocked itself; any other grants what may be delivered. */
    void blockOrGrant(Event.Read event, Walk walk) {
        chargeBlocked(event.ns);
        blockedLevel = walk.blockedLevel;
        if (walk.isBlocked()) {
            blockedAtNs = event.ns;
            blockedAtTs = event.ts;
        } else {
            grantedEntries = walk.entries;
            grantedBytes = walk.bytes;
        }
    }

    /** The wall clock was set: what is blocked goes on from ({@code ts}, {@code ns}). */
    void stepClock(long ts, long ns) {
        if (isBlocked()) {
            chargeBlocked(ns);
            blockedAtTs = ts;
        }
    }

    /** Splits the blocked stretch where the wall-clock border falls on the monotonic clock. */
    void passBorder(Window window) {
        if (!isBlocked()) {
            return;
        }
        long estimate = blockedAtNs + Math.max(0, window.endUs() - blockedAtTs) * 1000;
        chargeBlocked(Math.max(blockedAtNs, Math.min(estimate, window.borderNs())));
        blockedAtTs = Math.max(window.endUs(), blockedAtTs);
        touched |= counts.blockedNs > 0;
    }

    void noteWaiting() {
        Ledgers ledgers = subscription.topic.ledgers;
        waitingEntries = subscription.position.waitingEntries(ledgers);
        waitingBytes = subscription.position.waitingBytes(ledgers);
    }

    void close(long ts, long ns) {
        chargeBlocked(ns);
        noteWaiting();
        blockedLevel = Level.NONE;
        closedAt = ts;
    }

    void beginWindow() {
        counts = new DispatcherCounts();
        touched = false;
    }

    private void chargeBlocked(long untilNs) {
        if (isBlocked()) {
            long waited = Math.max(0, untilNs - blockedAtNs);
            counts.blockedNs += waited;
            counts.blockedNsBy[blockedLevel] += waited;
            blockedAtNs += waited;
        }
    }

    /** Its row of {@code subscription_throttle}. */
    Object[] row(long brokerId, Window window) {
        return new RowBuilder(Tables.SUBSCRIPTION_THROTTLE)
                .add(brokerId, window.epoch(), subscription.topic.id, subscription.id, openedAt)
                .addWindow(window)
                .addTime(closedAt)
                .add(subType < 0 ? null : Tables.SUB_TYPES.get(subType))
                .addCompleteness(complete)
                .addSource(counts.reads, counts.readsModelled)
                .addSix(counts.throttled)
                .addSix(throttledSinceOpen)
                .addSix(counts.modelled)
                .addSix(modelledSinceOpen)
                .add(counts.reads, counts.readsModelled, counts.readsShrunk, counts.readsBlocked)
                .add(counts.readsBlockedBy)
                .add(counts.readsBinding, counts.readsNominal, counts.readsByUnwritableChannel)
                .addSix(counts.decisive)
                .add(counts.leftMismatches, counts.blockedNs)
                .add(counts.blockedNsBy)
                .add(counts.dispatches, counts.dispatchedEntries, counts.dispatchedMsgs, counts.dispatchedBytes)
                .add(counts.unchargedMsgs, counts.oversizedDispatches, waitingEntries, waitingBytes)
                .values();
    }
}
