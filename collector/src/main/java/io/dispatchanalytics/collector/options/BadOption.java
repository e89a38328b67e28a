package io.dispatchanalytics.collector.options;

/** An option that cannot work. The message names it and what to do; the collector stops, the broker goes on. */
public final class BadOption extends Exception {
    private static final long serialVersionUID = 1L;

    /** With a message of one line for the operator. */
    public BadOption(String message) {
        super(message);
    }
}
