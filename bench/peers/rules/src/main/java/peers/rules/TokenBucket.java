package peers.rules;

/** PIP-322: refills only when it is asked, and only when more than a period has passed. */
final class TokenBucket extends PermitBook {
    private long tokens;
    private long pending;
    private long lastNs;
    private long remainder;

    TokenBucket(long rate, long periodS, long nowNs) {
        this.rate = rate;
        this.periodNs = Math.max(periodS, 1) * NS_PER_SECOND;
        this.tokens = rate;
        this.lastNs = nowNs;
    }

    @Override
    long ask(long nowNs) {
        if (isRefillDue(nowNs)) {
            long duration = Saturating.add(nowNs - lastNs, remainder);
            long fresh = Saturating.multiplyDivide(duration, rate, periodNs);
            tokens = Math.min(Saturating.add(tokens, fresh - pending), rate);
            remainder = Math.max(duration - Saturating.multiplyDivide(fresh, periodNs, rate), 0);
            pending = 0;
            lastNs = nowNs;
        }
        return Math.max(0, balance());
    }

    @Override
    long look(long nowNs) {
        if (!isRefillDue(nowNs)) {
            return Math.max(0, balance());
        }
        long fresh = Saturating.multiplyDivide(Saturating.add(nowNs - lastNs, remainder), rate, periodNs);
        return Math.max(0, Math.min(Saturating.add(tokens, fresh - pending), rate));
    }

    @Override
    long consume(long permits, long nowNs) {
        long before = balance();
        pending = Saturating.add(pending, permits);
        return beyond(permits, before);
    }

    @Override
    long balanceAt(long nowNs) {
        return balance();
    }

    @Override
    long balance() {
        return Saturating.subtract(tokens, pending);
    }

    @Override
    void settle(long nowNs) {}

    private boolean isRefillDue(long nowNs) {
        return nowNs - lastNs > periodNs;
    }
}
