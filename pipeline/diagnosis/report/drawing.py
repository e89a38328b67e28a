"""Geometry of the page's charts, in the units of an SVG: numbers alone, the page draws them. Pure."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from math import ceil
from typing import Any, NamedTuple

from pipeline.diagnosis.words import cause_words

WIDTH, HEIGHT = 720, 120
#: So many bars at most: more could not be told apart. A bar is then of several windows.
MOST_BARS = 240


class Bar(NamedTuple):
    """A part of a bar: its corner from above left, its size, its cause, and what it shows."""

    x: float
    y: float
    width: float
    height: float
    cause: str
    words: str


def bar_length(windows: Sequence[dict[str, Any]], start: datetime, end: datetime) -> timedelta:
    """Of one bar: a window, or as many whole windows as MOST_BARS need. The windows are of one length, but for some at a clock's step."""
    length = max((window["window_end"] - window["window_start"] for window in windows), default=end - start)
    return length * max(1, ceil((end - start) / length / MOST_BARS))


def cause_bars(windows: Sequence[dict[str, Any]], start: datetime, end: datetime) -> list[Bar]:
    """Bars as high as the share of their time with a backlog, parted by causes; none in a stretch of length zero."""
    if end <= start or not windows:
        return []
    length = bar_length(windows, start, end)
    seconds: dict[int, dict[str, tuple[str, float]]] = {}
    for window in windows:
        place = max(0, (window["window_start"] - start) // length)
        charged = seconds.setdefault(place, {})
        for one in window["causes"]:
            words = cause_words(one)
            charged[words] = (one["cause"], charged.get(words, ("", 0.0))[1] + one["seconds"])
    return [bar for place, charged in sorted(seconds.items()) for bar in _stacked(charged, start, end, start + place * length, length)]


def _stacked(charged: dict[str, tuple[str, float]], start: datetime, end: datetime, left: datetime, length: timedelta) -> Iterator[Bar]:
    """The parts of the bar from `left` on, one on the other; `charged`: cause and seconds by its words."""
    right = min(end, left + length)
    x, until = ((at - start) / (end - start) * WIDTH for at in (left, right))
    bottom = float(HEIGHT)
    for words, (cause, seconds) in charged.items():
        height = min(bottom, seconds / (right - left).total_seconds() * HEIGHT)
        bottom -= height
        shown = f"{words}: {seconds:.1f} s from {left.isoformat(timespec='seconds')}"
        yield Bar(round(x, 1), round(bottom, 1), round(max(0.5, until - x - 1), 1), round(height, 1), cause, shown)


class Line(NamedTuple):
    """`points` as SVG takes them, `limit_y` null where the limit is none or above the chart, `top` the value at its upper edge."""

    points: str
    limit_y: float | None
    top: int


def line(values: Sequence[tuple[datetime, int | None]], limit: int | None, start: datetime, end: datetime) -> Line | None:
    """A value over time against its limit; None where nothing is known, or the stretch has no length."""
    known = [(at, value) for at, value in values if value is not None]
    if not known or end <= start:
        return None
    most = max(value for _, value in known)
    is_near = limit is not None and 0 < limit <= 4 * most
    top = max(1, most, limit if is_near and limit is not None else 0)
    span_s = (end - start).total_seconds()
    places = (((at - start).total_seconds() / span_s * WIDTH, HEIGHT - max(0, value) / top * HEIGHT) for at, value in known)
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return Line(points, round(HEIGHT - limit / top * HEIGHT, 1) if is_near and limit is not None else None, top)
