package peers.rules;

import java.util.ArrayList;
import java.util.List;

/** A topic object of the broker, gone with its unload. */
final class Topic {
    final long id;
    final boolean loadSeen;
    final Ledgers ledgers = new Ledgers();
    final List<Subscription> subscriptions = new ArrayList<>(2);
    /** Null before its first rate. */
    Limiter limiter;

    Topic(long id, boolean loadSeen) {
        this.id = id;
        this.loadSeen = loadSeen;
    }
}
