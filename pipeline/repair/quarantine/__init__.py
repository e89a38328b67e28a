"""Rejected lines that are events now: out of quarantine, into bronze, once."""
