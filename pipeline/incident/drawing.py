"""Geometry of the page's charts, in the units of an SVG: numbers alone, the page draws them. Pure."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from pipeline.verdict.words import cause_words

WIDTH, HEIGHT = 720, 120
#: So many bars at most: more could not be told apart.
MOST_BARS = 240


class Bar(NamedTuple):
    """A part of a bar: its corner from above left, its size, its cause, and what it shows."""

    x: float
    y: float
    width: float
    height: float
    cause: str
    words: str


def cause_bars(windows: Sequence[dict[str, Any]], start: datetime, end: datetime) -> list[Bar]:
    """A bar per window, as high as the share of its time with a backlog, parted by causes; none in a stretch of length zero."""
    found = []
    span_s = (end - start).total_seconds()
    if span_s <= 0:
        return []
    for window in windows[-MOST_BARS:]:
        left = max(0.0, (window["window_start"] - start).total_seconds()) / span_s * WIDTH
        right = min(span_s, (window["window_end"] - start).total_seconds()) / span_s * WIDTH
        length_s = (window["window_end"] - window["window_start"]).total_seconds()
        bottom = float(HEIGHT)
        for one in window["causes"]:
            height = min(1.0, one["seconds"] / length_s) * HEIGHT
            bottom -= height
            words = f"{cause_words(one)}: {one['seconds']:.1f} s from {window['window_start'].isoformat(timespec='seconds')}"
            found.append(Bar(round(left, 1), round(bottom, 1), round(max(0.5, right - left - 1), 1), round(height, 1), one["cause"], words))
    return found


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
