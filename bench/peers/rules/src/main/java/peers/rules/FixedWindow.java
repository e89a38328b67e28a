package peers.rules;

/** The classic limiter: a timer gives a period's permits back at every tick. */
final class FixedWindow extends PermitBook {
    private static final long IDLE = -1;

    private long acquired;
    private long nextTickNs = IDLE;

    FixedWindow(long rate, long periodS) {
        this.rate = rate;
        this.periodNs = Math.max(periodS, 0) * NS_PER_SECOND;
    }

    /** Another rate: what was acquired stays, the timer starts again. */
    void reapply(long newRate, long periodS, long nowNs) {
        settle(nowNs);
        rate = newRate;
        periodNs = Math.max(periodS, 0) * NS_PER_SECOND;
        nextTickNs = periodNs > 0 ? Saturating.add(nowNs, periodNs) : IDLE;
    }

    @Override
    long ask(long nowNs) {
        settle(nowNs);
        return Math.max(0, balance());
    }

    @Override
    long look(long nowNs) {
        return ask(nowNs);
    }

    @Override
    long consume(long permits, long nowNs) {
        settle(nowNs);
        long before = balance();
        if (nextTickNs == IDLE && periodNs > 0) {
            nextTickNs = Saturating.add(nowNs, periodNs);
        }
        acquired = Saturating.add(acquired, permits);
        return beyond(permits, before);
    }

    @Override
    long balanceAt(long nowNs) {
        return Saturating.subtract(rate, acquired - givenBack(ticksDue(nowNs)));
    }

    @Override
    long balance() {
        return Saturating.subtract(rate, acquired);
    }

    @Override
    void settle(long nowNs) {
        long ticks = ticksDue(nowNs);
        if (ticks > 0) {
            acquired -= givenBack(ticks);
            nextTickNs += ticks * periodNs;
        }
    }

    private long ticksDue(long nowNs) {
        return nextTickNs == IDLE || periodNs <= 0 || nowNs < nextTickNs ? 0 : (nowNs - nextTickNs) / periodNs + 1;
    }

    private long givenBack(long ticks) {
        return ticks > acquired / rate ? acquired : ticks * rate;
    }
}
