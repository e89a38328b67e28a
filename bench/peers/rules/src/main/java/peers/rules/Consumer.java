package peers.rules;

/** A consumer of a subscription on a connection. */
final class Consumer {
    final long id;
    final Connection connection;
    final Subscription subscription;

    Consumer(long id, Connection connection, Subscription subscription) {
        this.id = id;
        this.connection = connection;
        this.subscription = subscription;
    }
}
