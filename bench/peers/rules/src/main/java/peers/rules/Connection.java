package peers.rules;

import java.util.HashMap;
import java.util.Map;

/** A connection and the consumers on it, by their id. */
final class Connection {
    boolean writable = true;
    final Map<Long, Consumer> consumers = new HashMap<>(4);
}
