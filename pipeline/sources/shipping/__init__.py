"""The shipper: finished log files of a host, line by line into a topic of Kafka, each line at least once."""
