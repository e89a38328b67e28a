package peers.rules;

/** Where a subscription reads on its topic's scale, and its mark-delete position there, to which it rewinds. */
final class ReadPosition {
    long entries;
    long bytes;
    private boolean known;
    private long deletedEntries;
    private long deletedBytes;
    private long consumers;

    /** A subscription whose cursor was never opened in the log starts where its topic ends now. */
    void meet(Ledgers ledgers) {
        if (!known) {
            known = true;
            entries = ledgers.endEntries;
            bytes = ledgers.endBytes;
            deletedEntries = ledgers.endEntries;
            deletedBytes = ledgers.endBytes;
        }
    }

    /** A cursor was opened at its mark-delete position, so many entries beyond it individually deleted. */
    void open(Ledgers ledgers, long ledgerId, long entry, long deletedBehind) {
        known = false;
        meet(ledgers);
        consumers = 0;
        Ledgers.Ledger ledger = ledgers.find(ledgerId);
        if (ledger == null) {
            return;
        }
        deleteUpTo(ledger, entry);
        long bytesBehind = Saturating.multiplyDivide(deletedBehind, ledger.averageBytes(), 1);
        moveTo(ledgers, Saturating.add(deletedEntries, deletedBehind), Saturating.add(deletedBytes, bytesBehind));
    }

    void close() {
        known = false;
    }

    /** The mark-delete position moved in memory: reading goes on beyond it, or from it after a seek. */
    void markDelete(Ledgers ledgers, long ledgerId, long entry, boolean isSeek) {
        Ledgers.Ledger ledger = ledgers.find(ledgerId);
        if (ledger == null) {
            return;
        }
        deleteUpTo(ledger, entry);
        if (isSeek || deletedEntries > entries) {
            rewind(ledgers);
        }
    }

    void advance(Ledgers ledgers, long moreEntries, long moreBytes) {
        moveTo(ledgers, Saturating.add(entries, moreEntries), Saturating.add(bytes, moreBytes));
    }

    void consumerOpened() {
        consumers++;
    }

    /** When the last consumer leaves, the broker rewinds the cursor. */
    void consumerClosed(Ledgers ledgers) {
        consumers = Math.max(0, consumers - 1);
        if (consumers == 0) {
            rewind(ledgers);
        }
    }

    long waitingEntries(Ledgers ledgers) {
        return known ? Math.max(0, ledgers.endEntries - entries) : 0;
    }

    long waitingBytes(Ledgers ledgers) {
        return known ? Math.max(0, ledgers.endBytes - bytes) : 0;
    }

    private void rewind(Ledgers ledgers) {
        moveTo(ledgers, deletedEntries, deletedBytes);
    }

    private void moveTo(Ledgers ledgers, long toEntries, long toBytes) {
        boolean atEnd = toEntries >= ledgers.endEntries;
        entries = atEnd ? ledgers.endEntries : toEntries;
        bytes = atEnd ? ledgers.endBytes : Math.min(toBytes, ledgers.endBytes);
    }

    private void deleteUpTo(Ledgers.Ledger ledger, long entry) {
        deletedEntries = Saturating.add(ledger.entriesBefore, entry >= ledger.entries ? ledger.entries : entry + 1);
        deletedBytes = Saturating.add(ledger.bytesBefore, ledger.consumedBytes(entry));
    }
}
