package io.dispatchanalytics.collector.hooks;

import io.dispatchanalytics.collector.Collector;
import net.bytebuddy.asm.Advice;

/** What moves cursors besides acknowledgements. Each moves the position in memory on its own thread, inside of its method. */
public final class MoverHooks {
    private MoverHooks() { }

    /** Messages that are too old. */
    public static final class Expire {
        private Expire() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static String enter() {
            return begins("expired");
        }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        public static void exit(@Advice.Enter String before) {
            ends(before);
        }
    }

    /** A quota that evicts. */
    public static final class Evict {
        private Evict() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static String enter() {
            return begins("evicted");
        }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        public static void exit(@Advice.Enter String before) {
            ends(before);
        }
    }

    /** An administrator who skips. */
    public static final class Skip {
        private Skip() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static String enter() {
            return begins("skipped");
        }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        public static void exit(@Advice.Enter String before) {
            ends(before);
        }
    }

    /** An administrator who clears. */
    public static final class Clear {
        private Clear() { }

        /** Woven. */
        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static String enter() {
            return begins("cleared");
        }

        /** Woven. */
        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        public static void exit(@Advice.Enter String before) {
            ends(before);
        }
    }

    /** Called by what is woven. */
    public static String begins(String what) {
        return Collector.recorder().cursorMoves.movedBy(what);
    }

    /** Called by what is woven. */
    public static void ends(String before) {
        Collector.recorder().cursorMoves.movedAsBefore(before);
    }
}
