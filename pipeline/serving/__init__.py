"""Answers for other people's tools, from tables alone."""
