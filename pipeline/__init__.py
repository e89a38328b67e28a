"""From the log to the tables: parse, order, decide, write."""

VERSION = "0.1.0"
