"""Counts for people. Pure."""


def entries(count: int) -> str:
    """`1 entry`, `1,200 entries`."""
    return f"{count:,} {'entry' if count == 1 else 'entries'}"


def counted(count: int, noun: str) -> str:
    """Of a noun whose plural has an s: `1 message`, `1,200 messages`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def percent(share: float) -> str:
    """Whole; below one percent two digits: `0.04%`. Something is never `0%`, and next to nothing is `less than 0.01%`."""
    if 0 < share < 0.0001:
        return "less than 0.01%"
    return f"{share * 100:.2g}%" if 0 < share < 0.01 else f"{share:,.0%}"
