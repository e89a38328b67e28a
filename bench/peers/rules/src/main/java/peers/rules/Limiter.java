package peers.rules;

/** One limiter from its first rate to the end of its owner, and its use in the open window. */
final class Limiter {
    static final long UNLIMITED = -1;

    final int level;
    final long topicId;
    final long subId;
    final long createdAt;
    final boolean complete;
    long closedAt = Outcomes.NULL;
    boolean classic;
    boolean relative;
    long periodMs;
    /** Number of the window that {@link #uses} are of. */
    long window;
    private final PermitBook[] books = new PermitBook[Dimension.COUNT];
    private LimiterUse[] uses = freshUses();

    Limiter(Event.DispatchRate event, boolean complete, long window) {
        this.level = event.level;
        this.topicId = event.topicId;
        this.subId = event.subId;
        this.createdAt = event.ts;
        this.complete = complete;
        this.classic = event.classic;
        this.window = window;
    }

    /** A new window: counters at 0, balances of the border carried over. */
    void beginWindow(long number, long borderNs) {
        window = number;
        uses = freshUses();
        for (int dimension = 0; dimension < Dimension.COUNT; dimension++) {
            if (books[dimension] != null) {
                uses[dimension].shownRate = books[dimension].rate;
                uses[dimension].permitsStart = books[dimension].balanceAt(borderNs);
            }
        }
    }

    void apply(Event.DispatchRate event) {
        if (event.classic != classic) {
            books[Dimension.MSG] = null;
            books[Dimension.BYTES] = null;
        }
        classic = event.classic;
        relative = event.relative;
        periodMs = Math.max(event.periodS, classic ? 0 : 1) * 1000;
        applyRate(Dimension.MSG, event.msgRate, event);
        applyRate(Dimension.BYTES, event.byteRate, event);
    }

    private void applyRate(int dimension, long rate, Event.DispatchRate event) {
        if (rate <= 0) {
            books[dimension] = null;
            return;
        }
        if (!classic) {
            books[dimension] = new TokenBucket(rate, event.periodS, event.ns);
        } else if (books[dimension] instanceof FixedWindow known) {
            known.reapply(rate, event.periodS, event.ns);
        } else {
            books[dimension] = new FixedWindow(rate, event.periodS);
        }
        LimiterUse use = uses[dimension];
        use.applied++;
        if (use.shownRate == 0) {
            use.permitsStart = books[dimension].balance();
        }
        use.shownRate = rate;
    }

    /** The books of a dimension, null without a rate. */
    PermitBook book(int dimension) {
        return books[dimension];
    }

    LimiterUse use(int dimension) {
        return uses[dimension];
    }

    long ask(int dimension, long nowNs) {
        return books[dimension] == null ? UNLIMITED : books[dimension].ask(nowNs);
    }

    long look(int dimension, long nowNs) {
        return books[dimension] == null ? UNLIMITED : books[dimension].look(nowNs);
    }

    void consume(int dimension, long permits, long nowNs) {
        PermitBook book = books[dimension];
        if (book == null || permits <= 0) {
            return;
        }
        LimiterUse use = uses[dimension];
        use.overDelivered = Saturating.add(use.overDelivered, book.consume(permits, nowNs));
        use.used = Saturating.add(use.used, permits);
    }

    void close(long ts, long ns) {
        closedAt = ts;
        for (PermitBook book : books) {
            if (book != null) {
                book.settle(ns);
            }
        }
    }

    /** Balance at a border, or where the limiter ended; 0 without a rate. */
    long permitsEnd(int dimension, long borderNs) {
        PermitBook book = books[dimension];
        if (book == null) {
            return 0;
        }
        return closedAt == Outcomes.NULL ? book.balanceAt(borderNs) : book.balance();
    }

    private static LimiterUse[] freshUses() {
        return new LimiterUse[] {new LimiterUse(), new LimiterUse()};
    }
}
