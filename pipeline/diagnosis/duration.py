"""Durations for people."""

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def duration(seconds: float) -> str:
    """Seconds in their two largest units: `2 d 19 h`, `3 min 5 s`, `42 s`; below one second `0.4 s`."""
    if 0 < seconds < 1:
        return f"{seconds:.1f} s"
    parts = []
    left = round(seconds)
    for size, name in _UNITS:
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count} {name}")
    return " ".join(parts[:2]) or "0 s"
