"""A real Pulsar broker on this machine, with the collector, under a known load; and the broker's own figures of what happened."""
