package peers.rules;

/** What one dimension of a limiter was used for in the open window. */
final class LimiterUse {
    long shownRate;
    long permitsStart;
    long applied;
    long used;
    long overDelivered;
    long asksModelled;
    long asks;
    long asksShrunk;
    long asksBlocked;
    long asksBinding;
    long compared;
    long exact;
    long withinClockStep;
    long different;
    long largestDifference;

    /** Whether the window gets a row of it; a limiter that ended gets one anyway. */
    boolean isWorthARow(boolean ended) {
        return shownRate > 0 && (applied > 0 || asks > 0 || compared > 0 || used > 0 || ended);
    }

    void compare(long observed, long modelled, PermitBook book) {
        long difference = Math.abs(observed - modelled);
        compared++;
        largestDifference = Math.max(largestDifference, difference);
        if (difference == 0) {
            exact++;
        } else if (difference <= book.clockStepTolerance()) {
            withinClockStep++;
        } else {
            different++;
        }
    }
}
