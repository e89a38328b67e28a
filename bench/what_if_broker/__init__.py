"""Pairs of lives on a real broker: one load twice, one setting changed; the second life is predicted from the log of the first one."""
