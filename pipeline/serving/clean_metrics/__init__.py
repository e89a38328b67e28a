"""`/metrics/clean`: the metrics that Pulsar's broker lacks, under names of our own."""
