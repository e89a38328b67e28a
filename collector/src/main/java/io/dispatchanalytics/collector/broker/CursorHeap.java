package io.dispatchanalytics.collector.broker;

import io.dispatchanalytics.collector.Notices;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.StampedLock;
import org.apache.bookkeeper.mledger.ManagedCursor;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.impl.ManagedCursorContainer;

/**
 * The broker's heap of slowest cursors, in its order. The heap is private and there is no other way to its order: ties
 * between cursors fall by it. Where it cannot be read, the order is by name and ties may fall the other way.
 */
public final class CursorHeap {
    /** Its fields, for `collector points`. */
    public static final String HEAP = "heap";
    private static final String LOCK = "rwLock";
    private static final long PATIENCE_MS = 10;

    private CursorHeap() { }

    /** A cursor and the position by which it is ordered; null: it is not ordered, as readers are not. */
    record Placed(ManagedCursor cursor, Position position) { }

    /** All cursors, those of the heap first. */
    static List<Placed> of(ManagedCursorContainer container) {
        List<Placed> placed = inHeap(container);
        for (ManagedCursor cursor : container) {
            if (placed.stream().noneMatch(each -> each.cursor == cursor)) {
                placed.add(new Placed(cursor, null));
            }
        }
        return placed;
    }

    private static List<Placed> inHeap(ManagedCursorContainer container) {
        List<Placed> placed = new ArrayList<>();
        try {
            StampedLock lock = (StampedLock) read(container, LOCK);
            long stamp = lock.tryReadLock(PATIENCE_MS, TimeUnit.MILLISECONDS);
            if (stamp == 0) {
                return placed;
            }
            try {
                for (Object item : (List<?>) read(container, HEAP)) {
                    placed.add(new Placed((ManagedCursor) read(item, "cursor"), (Position) read(item, "position")));
                }
            } finally {
                lock.unlockRead(stamp);
            }
        } catch (ReflectiveOperationException | ClassCastException other) {
            Notices.printSeldom("heap", "this broker's heap of cursors cannot be read (" + other + "): ties of slowest cursors are guessed");
            placed.clear();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        return placed;
    }

    private static Object read(Object owner, String name) throws ReflectiveOperationException {
        Field field = owner.getClass().getDeclaredField(name);
        field.setAccessible(true);
        return field.get(owner);
    }
}
