"""Counts for people. Pure."""


def entries(count: int) -> str:
    """`1 entry`, `1,200 entries`."""
    return f"{count:,} {'entry' if count == 1 else 'entries'}"
