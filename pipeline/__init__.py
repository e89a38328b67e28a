"""From the log to the tables: parse, order, decide, write."""
