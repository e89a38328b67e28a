package peers.rules;

/**
 * A window that closes, in µs of the wall clock. {@code borderNs} is the monotonic clock at the event applied next, or at the last one if
 * none follows.
 */
record Window(long epoch, long startUs, long endUs, int clockSegment, long borderNs) {}
