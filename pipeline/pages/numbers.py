"""Numbers for the page: short, with their unit, joined by a no-break space. Pure."""

from pipeline.diagnosis.duration import duration

NO_BREAK = "\u00a0"
_TEN, _THOUSAND = 10, 1000
_SIZES = ("B", "kB", "MB", "GB", "TB", "PB", "EB")
#: A forecast beyond it is none.
YEAR_S = 365 * 86_400


def count(entries: int) -> str:
    """`4,213`."""
    return f"{entries:,}"


def short(value: float) -> str:
    """Two digits at least: `2.9`, `67`, `1,204`; below one `0.04`; `0`."""
    if value == 0:
        return "0"
    if abs(value) < 1:
        return f"{value:.2g}"
    return f"{value:.1f}".removesuffix(".0") if abs(value) < _TEN else f"{value:,.0f}"


def rate(per_s: float) -> str:
    """Entries: `67/s`."""
    return f"{short(per_s)}/s"


def size(amount_bytes: float) -> str:
    """Powers of ten: `4 MB`, `212 kB`, `0 B`."""
    value, unit = float(amount_bytes), 0
    while abs(value) >= _THOUSAND and unit < len(_SIZES) - 1:
        value, unit = value / _THOUSAND, unit + 1
    return f"{short(value)}{NO_BREAK}{_SIZES[unit]}"


def span(seconds: float) -> str:
    """`1 min 3 s`, without a break."""
    return duration(seconds).replace(" ", NO_BREAK)


def lasting(seconds: float) -> str:
    """Of a part of a window: `7.3 s`, `7.4 ms`, `0 s`."""
    return f"{short(seconds * 1e3)}{NO_BREAK}ms" if 0 < seconds < 1 else f"{short(seconds)}{NO_BREAK}s"


def ahead(seconds: float) -> str:
    """Time until something comes; a forecast beyond a year is none."""
    return span(seconds) if seconds < YEAR_S else "more than a year"


def limit(permits: float, period_s: float | None, dimension: str) -> str:
    """`40 kB/s`, `60 msg/s`; of another period than a second `600 msg per 10 s`."""
    amount = size(permits) if dimension == "bytes" else f"{short(permits)}{NO_BREAK}msg"
    if period_s is None:
        return amount
    return f"{amount}/s" if period_s == 1 else f"{amount} per {span(period_s)}"
