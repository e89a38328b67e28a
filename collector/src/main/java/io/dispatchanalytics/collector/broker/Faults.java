package io.dispatchanalytics.collector.broker;

import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/** How the log names a failure. */
final class Faults {
    private Faults() { }

    /** Its class. Futures wrap it: what depends on a future that failed gets the wrapping. */
    static String name(Throwable fault) {
        Throwable cause = fault;
        while ((cause instanceof CompletionException || cause instanceof ExecutionException) && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause.getClass().getSimpleName();
    }
}
