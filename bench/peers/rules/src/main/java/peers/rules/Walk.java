package peers.rules;

/** One walk of a read over the limiters' answers, broker first (PIP-406). */
final class Walk {
    long entries;
    long bytes;
    int blockedLevel = Level.NONE;
    private int lowered;

    /** Answers lie at 2·level + dimension; bit {@code level} of {@code present} is set if the level takes part. */
    Walk(long[] answers, int present, long wantEntries, long wantBytes) {
        entries = wantEntries;
        bytes = wantBytes;
        for (int level = 0; level < Level.COUNT && blockedLevel == Level.NONE; level++) {
            if ((present >> level & 1) == 1) {
                pass(level, (int) answers[2 * level], answers[2 * level + 1]);
            }
        }
    }

    private void pass(int level, int permits, long permittedBytes) {
        if (permits >= 0 && permits < entries) {
            entries = permits;
            lowered |= 1 << 2 * level;
        }
        if (permittedBytes >= 0 && permittedBytes < bytes) {
            bytes = permittedBytes;
            lowered |= 2 << 2 * level;
        }
        if (entries == 0 || bytes == 0) {
            blockedLevel = level;
        }
    }

    boolean isBlocked() {
        return blockedLevel != Level.NONE;
    }

    boolean lowered(int level, int dimension) {
        return (lowered >> 2 * level + dimension & 1) == 1;
    }

    boolean loweredAnything() {
        return lowered != 0;
    }

    /** The last level that lowered the dimension, or NONE. */
    int decisiveLevel(int dimension) {
        for (int level = Level.COUNT - 1; level >= 0; level--) {
            if (lowered(level, dimension)) {
                return level;
            }
        }
        return Level.NONE;
    }

    /** What is left in a dimension; it may be 0 where the walk was blocked. */
    long left(int dimension) {
        return dimension == Dimension.MSG ? entries : bytes;
    }
}
