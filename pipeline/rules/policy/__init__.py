"""Policies as they are set: precedence (§1.5, §2.5), and what the broker applied beside it."""
