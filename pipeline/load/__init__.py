"""A finished log to a whole new warehouse, by processes of this machine, without Spark."""
