"""Bytes to lines, lines to columns or to a reason. No Spark."""
