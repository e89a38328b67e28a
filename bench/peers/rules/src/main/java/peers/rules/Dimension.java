package peers.rules;

/** What a limiter counts. */
final class Dimension {
    static final int MSG = 0;
    static final int BYTES = 1;
    static final int COUNT = 2;
    static final String[] NAMES = {"msg", "bytes"};

    private Dimension() {}
}
