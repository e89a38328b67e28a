package peers.rules;

/** What happened to a dispatcher in the open window. Counters by level and dimension lie at 2·level + dimension. */
final class DispatcherCounts {
    final long[] throttled = new long[2 * Level.COUNT];
    final long[] modelled = new long[2 * Level.COUNT];
    final long[] decisive = new long[2 * Level.COUNT];
    final long[] readsBlockedBy = new long[Level.COUNT];
    final long[] blockedNsBy = new long[Level.COUNT];
    long reads;
    long readsModelled;
    long readsShrunk;
    long readsBlocked;
    long readsBinding;
    long readsNominal;
    long readsByUnwritableChannel;
    long leftMismatches;
    long blockedNs;
    long dispatches;
    long dispatchedEntries;
    long dispatchedMsgs;
    long dispatchedBytes;
    long unchargedMsgs;
    long oversizedDispatches;
}
