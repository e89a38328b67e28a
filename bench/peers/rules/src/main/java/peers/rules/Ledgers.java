package peers.rules;

import java.util.ArrayList;
import java.util.List;

/** A topic's ledgers, ascending, and its scale: every entry that the topic ever had has a place on it. */
final class Ledgers {
    /** One ledger; {@code …Before} is where it begins on the scale. */
    static final class Ledger {
        final long id;
        long entries;
        long bytes;
        long entriesBefore;
        long bytesBefore;

        Ledger(long id) {
            this.id = id;
        }

        /** Bytes up to and including an entry, by the ledger's integer average. */
        long consumedBytes(long entry) {
            if (entries <= 0 || entry < 0) {
                return 0;
            }
            return entries <= entry + 1 ? bytes : (entry + 1) * averageBytes();
        }

        long averageBytes() {
            return entries > 0 ? bytes / entries : 0;
        }
    }

    long endEntries;
    long endBytes;
    private final List<Ledger> list = new ArrayList<>(2);

    /** The ledger, or null. */
    Ledger find(long id) {
        int position = lowerBound(id);
        return position < list.size() && list.get(position).id == id ? list.get(position) : null;
    }

    /** The ledger, made empty in its order if it is not known. */
    Ledger meet(long id) {
        int position = lowerBound(id);
        if (position < list.size() && list.get(position).id == id) {
            return list.get(position);
        }
        Ledger ledger = new Ledger(id);
        boolean isLast = position == list.size();
        ledger.entriesBefore = isLast ? endEntries : list.get(position).entriesBefore;
        ledger.bytesBefore = isLast ? endBytes : list.get(position).bytesBefore;
        list.add(position, ledger);
        return ledger;
    }

    /** So many entries and bytes more (or fewer) in the ledger; what follows it on the scale moves. */
    void grow(Ledger ledger, long entries, long bytes) {
        ledger.entries = Saturating.add(ledger.entries, entries);
        ledger.bytes = Saturating.add(ledger.bytes, bytes);
        endEntries = Saturating.add(endEntries, entries);
        endBytes = Saturating.add(endBytes, bytes);
        for (int k = list.size() - 1; k >= 0 && list.get(k).id > ledger.id; k--) {
            Ledger later = list.get(k);
            later.entriesBefore = Saturating.add(later.entriesBefore, entries);
            later.bytesBefore = Saturating.add(later.bytesBefore, bytes);
        }
    }

    void close(long id, long entries, long bytes) {
        Ledger ledger = meet(id);
        grow(ledger, entries - ledger.entries, bytes - ledger.bytes);
    }

    /** The ledger leaves the list; its entries keep their places. */
    void trim(long id) {
        Ledger ledger = find(id);
        if (ledger != null) {
            list.remove(ledger);
        }
    }

    private int lowerBound(long id) {
        int low = 0;
        int high = list.size();
        if (high == 0 || list.get(high - 1).id < id) {
            return high;
        }
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (list.get(middle).id < id) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
}
