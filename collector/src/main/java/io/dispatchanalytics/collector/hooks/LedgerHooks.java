package io.dispatchanalytics.collector.hooks;

import io.dispatchanalytics.collector.Collector;
import io.dispatchanalytics.collector.TestFaults;
import java.util.List;
import net.bytebuddy.asm.Advice;
import org.apache.bookkeeper.client.LedgerHandle;
import org.apache.bookkeeper.mledger.ManagedLedger;
import org.apache.bookkeeper.mledger.proto.MLDataFormats.ManagedLedgerInfo.LedgerInfo;

/** Ledgers of a topic: opened, closed, removed from the list. */
public final class LedgerHooks {
    private LedgerHooks() { }

    /** A new ledger is the current one; entries that wait are not yet sent to it. */
    public static final class Open {
        private Open() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static void enter(@Advice.This Object managedLedger, @Advice.FieldValue("currentLedger") Object ledger) {
            opened(managedLedger, ledger);
        }
    }

    /** A ledger is closed, once: the broker calls this for every write that failed in it. */
    public static final class Close {
        private Close() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static boolean enter(
                @Advice.FieldValue("currentLedger") Object current, @Advice.FieldValue("state") Object state, @Advice.Argument(0) Object ledger) {
            return current == ledger && isOpen(state);
        }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class)
        public static void exit(@Advice.Enter boolean takesEffect, @Advice.This Object managedLedger, @Advice.Argument(0) Object ledger) {
            if (takesEffect) {
                closed(managedLedger, ledger);
            }
        }
    }

    /** Ledgers were removed from the list. */
    public static final class Trim {
        private Trim() { }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class)
        public static void exit(@Advice.This Object managedLedger, @Advice.Argument(0) Object ledgers) {
            trimmed(managedLedger, ledgers);
        }
    }

    /** Called by what is woven. */
    public static void opened(Object managedLedger, Object ledger) {
        TestFaults.at("ledger_open");
        Collector.recorder().topicLife.ledgerOpened((ManagedLedger) managedLedger, ((LedgerHandle) ledger).getId());
    }

    /** Called by what is woven. */
    public static boolean isOpen(Object state) {
        TestFaults.at("ledger_close");
        String name = state.toString();
        return name.equals("ClosingLedger") || name.equals("LedgerOpened");
    }

    /** Called by what is woven. */
    public static void closed(Object managedLedger, Object ledger) {
        ManagedLedger owner = (ManagedLedger) managedLedger;
        long id = ((LedgerHandle) ledger).getId();
        Collector.recorder().topicLife.ledgerClosed(owner, id, owner.getLedgersInfo().get(id), System.currentTimeMillis());
    }

    /** Called by what is woven. */
    public static void trimmed(Object managedLedger, Object ledgers) {
        TestFaults.at("ledger_trim");
        for (Object each : (List<?>) ledgers) {
            Collector.recorder().topicLife.ledgerTrimmed((ManagedLedger) managedLedger, ((LedgerInfo) each).getLedgerId());
        }
    }
}
