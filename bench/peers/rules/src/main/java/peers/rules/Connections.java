package peers.rules;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;

/** Which consumers hang on which connections, and which of these can be written to. */
final class Connections {
    private final Map<Long, Connection> byId = new HashMap<>();
    private int unwritable;

    boolean anyUnwritable() {
        return unwritable > 0;
    }

    void setWritable(long id, boolean writable) {
        Connection connection = meet(id);
        if (connection.writable != writable) {
            connection.writable = writable;
            unwritable += writable ? -1 : 1;
        }
    }

    /** The connection is gone, with its consumers. */
    void close(long id) {
        Connection connection = byId.get(id);
        if (connection != null) {
            setWritable(id, true);
            connection.consumers.values().forEach(consumer -> consumer.subscription.consumers.remove(consumer));
            byId.remove(id);
        }
    }

    /** A consumer of that id that is open on the connection ends. */
    void openConsumer(long id, long consumerId, Subscription subscription) {
        Connection connection = meet(id);
        closeConsumer(id, consumerId);
        Consumer consumer = new Consumer(consumerId, connection, subscription);
        connection.consumers.put(consumerId, consumer);
        subscription.consumers.add(consumer);
    }

    void closeConsumer(long id, long consumerId) {
        Connection connection = byId.get(id);
        Consumer consumer = connection == null ? null : connection.consumers.remove(consumerId);
        if (consumer != null) {
            consumer.subscription.consumers.remove(consumer);
        }
    }

    /** The subscription is gone, with its consumers. */
    void closeConsumersOf(Subscription subscription) {
        for (Consumer consumer : new ArrayList<>(subscription.consumers)) {
            consumer.connection.consumers.remove(consumer.id);
        }
        subscription.consumers.clear();
    }

    private Connection meet(long id) {
        return byId.computeIfAbsent(id, any -> new Connection());
    }
}
