"""`/metrics` as Pulsar's broker would answer it, from the tables."""
