package peers.rules;

/** The books of one dimension of a limiter that has a rate. Times are ns of the broker's monotonic clock. */
abstract class PermitBook {
    private static final long CLOCK_STEP_NS = 16_000_000;
    static final long NS_PER_SECOND = 1_000_000_000;

    long rate;
    long periodNs;

    /** What the limiter answers at {@code nowNs}; asking may change the books. */
    abstract long ask(long nowNs);

    /** What {@link #ask} would answer. */
    abstract long look(long nowNs);

    /** Charges permits; debt is allowed. Returns how many of them went beyond the balance. */
    abstract long consume(long permits, long nowNs);

    /** Permits in the books, negative is debt; what time alone gives back by {@code nowNs} is counted in. */
    abstract long balanceAt(long nowNs);

    /** Permits in the books as they are. */
    abstract long balance();

    /** Takes what time alone gives back by {@code nowNs} into the books. */
    abstract void settle(long nowNs);

    /** Permits that one step of the broker's clock is worth. */
    long clockStepTolerance() {
        return periodNs <= 0 ? 1 : Math.max(1, Saturating.multiplyDivideUp(rate, CLOCK_STEP_NS, periodNs));
    }

    static long beyond(long permits, long balanceBefore) {
        return Math.max(0, permits - Math.max(0, balanceBefore));
    }
}
