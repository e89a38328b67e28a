package io.dispatchanalytics.collector.broker;

import java.util.Map;
import org.apache.bookkeeper.mledger.ManagedCursor;
import org.apache.bookkeeper.mledger.ManagedLedger;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.proto.MLDataFormats.ManagedLedgerInfo.LedgerInfo;

/** How many entries behind a cursor's position are individually deleted: what a snapshot must add to the position. */
final class DeletedEntries {
    static final long UNKNOWN = -1;
    private static final int TRIES = 3;

    private DeletedEntries() { }

    /** The number, or UNKNOWN: entries were written while it was counted. */
    static long behind(ManagedLedger ledger, ManagedCursor cursor, Position position) {
        for (int tries = 0; tries < TRIES; tries++) {
            Position last = ledger.getLastConfirmedEntry();
            if (last == null) {
                return UNKNOWN;
            }
            // All that follow, less those that the broker counts as not deleted.
            long deleted = entries(ledger, position, last) - cursor.getNumberOfEntriesInBacklog(true);
            if (last.equals(ledger.getLastConfirmedEntry()) && deleted >= 0) {
                return deleted;
            }
        }
        return UNKNOWN;
    }

    private static long entries(ManagedLedger ledger, Position after, Position last) {
        long sum = 0;
        for (Map.Entry<Long, LedgerInfo> each : ledger.getLedgersInfo().tailMap(after.getLedgerId(), true).entrySet()) {
            long id = each.getKey();
            long size = id == last.getLedgerId() ? last.getEntryId() + 1 : id < last.getLedgerId() ? each.getValue().getEntries() : 0;
            sum += id == after.getLedgerId() ? Math.max(0, size - after.getEntryId() - 1) : size;
        }
        return sum;
    }
}
