"""Promises: named questions as SQL over the tables."""
