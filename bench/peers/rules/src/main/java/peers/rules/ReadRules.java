package peers.rules;

/** One evaluation of the read limits: both walks, counters, comparison with the model, blocked time, binding or nominal. */
final class ReadRules {
    private final Event.Read event;
    private final Limiter[] limiters;
    private final long waitingEntries;
    private final long waitingBytes;
    private final long[] modelled = new long[2 * Level.COUNT];
    private int modelledLevels;

    /** {@code limiters} by level, null where there is none. */
    ReadRules(Event.Read event, Limiter[] limiters, long waitingEntries, long waitingBytes) {
        this.event = event;
        this.limiters = limiters;
        this.waitingEntries = waitingEntries;
        this.waitingBytes = waitingBytes;
    }

    void evaluate(Dispatcher dispatcher) {
        askModel();
        if (isObserved()) {
            compareAnswers();
        }
        Walk model = new Walk(modelled, modelledLevels, event.wantMsgs, event.wantBytes);
        Walk walk = isObserved() ? new Walk(event.answers, event.answered, event.wantMsgs, event.wantBytes) : model;
        dispatcher.countModelled(model);
        dispatcher.countThrottled(walk);
        countAsks(walk);
        countOutcome(dispatcher.counts, walk);
        dispatcher.blockOrGrant(event, walk);
    }

    private boolean isObserved() {
        return event.answered != 0;
    }

    private static boolean has(int levels, int level) {
        return (levels >> level & 1) == 1;
    }

    /**
     * With observed answers exactly the levels that the broker asked are asked, the others only looked at. Without, levels are asked one
     * after the other until one would block the walk.
     */
    private void askModel() {
        long nowNs = event.askedNs == Event.ABSENT ? event.ns : event.askedNs;
        boolean blocked = false;
        for (int level = 0; level < Level.COUNT && !blocked; level++) {
            Limiter limiter = limiters[level];
            if (limiter == null) {
                continue;
            }
            modelledLevels |= 1 << level;
            boolean asks = !isObserved() || has(event.answered, level);
            for (int dimension = 0; dimension < Dimension.COUNT; dimension++) {
                modelled[2 * level + dimension] = asks ? limiter.ask(dimension, nowNs) : limiter.look(dimension, nowNs);
            }
            if (!isObserved()) {
                boolean wantsNothing = event.wantMsgs == 0 || event.wantBytes == 0;
                blocked = wantsNothing || (int) modelled[2 * level] == 0 || modelled[2 * level + 1] == 0;
            }
        }
    }

    private void compareAnswers() {
        for (int level = 0; level < Level.COUNT; level++) {
            Limiter limiter = limiters[level];
            if (limiter == null || limiter.relative || !has(event.answered, level)) {
                continue;
            }
            for (int dimension = 0; dimension < Dimension.COUNT; dimension++) {
                long observed = event.answers[2 * level + dimension];
                PermitBook book = limiter.book(dimension);
                if (observed != Limiter.UNLIMITED && book != null) {
                    limiter.use(dimension).compare(observed, modelled[2 * level + dimension], book);
                }
            }
        }
    }

    /** Levels beyond the one that blocked were not asked. */
    private void countAsks(Walk walk) {
        int deepest = walk.isBlocked() ? walk.blockedLevel : Level.COUNT - 1;
        int tookPart = isObserved() ? event.answered : modelledLevels;
        for (int level = 0; level <= deepest; level++) {
            if (limiters[level] != null && has(tookPart, level)) {
                for (int dimension = 0; dimension < Dimension.COUNT; dimension++) {
                    countAsk(walk, level, dimension);
                }
            }
        }
    }

    private void countAsk(Walk walk, int level, int dimension) {
        if (limiters[level].book(dimension) == null) {
            return;
        }
        LimiterUse use = limiters[level].use(dimension);
        use.asks++;
        use.asksModelled += isObserved() ? 0 : 1;
        if (!walk.lowered(level, dimension)) {
            return;
        }
        if (level == walk.blockedLevel && walk.left(dimension) == 0) {
            use.asksBlocked++;
        } else {
            use.asksShrunk++;
        }
        if (binds(walk, dimension)) {
            use.asksBinding++;
        }
    }

    private boolean binds(Walk walk, int dimension) {
        long waiting = dimension == Dimension.MSG ? waitingEntries : waitingBytes;
        return waiting > (walk.isBlocked() ? 0 : walk.left(dimension));
    }

    private void countOutcome(DispatcherCounts counts, Walk walk) {
        counts.reads++;
        counts.readsModelled += isObserved() ? 0 : 1;
        if (isObserved() && leftDiffers(walk)) {
            counts.leftMismatches++;
        }
        boolean binding = false;
        for (int dimension = 0; dimension < Dimension.COUNT; dimension++) {
            int level = walk.decisiveLevel(dimension);
            if (level != Level.NONE) {
                counts.decisive[2 * level + dimension]++;
                binding |= binds(walk, dimension);
            }
        }
        if (walk.isBlocked()) {
            counts.readsBlocked++;
            counts.readsBlockedBy[walk.blockedLevel]++;
        } else if (walk.loweredAnything()) {
            counts.readsShrunk++;
        } else {
            return;
        }
        if (binding) {
            counts.readsBinding++;
        } else {
            counts.readsNominal++;
        }
    }

    /** Whether the logged {@code left_*} contradict the walk over the logged answers. */
    private boolean leftDiffers(Walk walk) {
        return differs(event.leftMsgs, walk.isBlocked() ? -1 : walk.entries) || differs(event.leftBytes, walk.isBlocked() ? -1 : walk.bytes);
    }

    private static boolean differs(long logged, long left) {
        return logged != Event.ABSENT && logged != left;
    }
}
