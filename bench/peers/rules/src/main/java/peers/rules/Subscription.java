package peers.rules;

import java.util.ArrayList;
import java.util.List;

/** A subscription of a loaded topic. */
final class Subscription {
    final long id;
    final Topic topic;
    final ReadPosition position = new ReadPosition();
    final List<Consumer> consumers = new ArrayList<>(1);
    /** Null while none is open. */
    Dispatcher dispatcher;
    /** The dispatcher's; null before its first rate. */
    Limiter limiter;

    Subscription(long id, Topic topic) {
        this.id = id;
        this.topic = topic;
    }

    /** Whether it has consumers, none of them on a connection that can be written to. */
    boolean isUnwritable() {
        for (Consumer consumer : consumers) {
            if (consumer.connection.writable) {
                return false;
            }
        }
        return !consumers.isEmpty();
    }
}
