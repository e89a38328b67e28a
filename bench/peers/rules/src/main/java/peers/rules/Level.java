package peers.rules;

/** Numbers of limiter levels, outermost first, and of dimensions. Plain ints: they index counters on the hot path. */
final class Level {
    static final int NONE = -1;
    static final int BROKER = 0;
    static final int TOPIC = 1;
    static final int SUBSCRIPTION = 2;
    static final int COUNT = 3;
    static final String[] NAMES = {"broker", "topic", "subscription"};

    private Level() {}
}
