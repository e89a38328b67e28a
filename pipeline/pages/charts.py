"""Geometry of the charts, in percent of the plot: numbers alone, templates draw them. Text is not stretched with them. Pure."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from math import ceil, floor, log10
from typing import Any, NamedTuple

from pipeline.pages.axis import Axis, Tick
from pipeline.pages.badges import cause_name, hue_of

#: More bars, points or ticks could not be told apart. A bar is then of several windows.
MOST_BARS = 240
MOST_POINTS = 400
#: Columns of a chart of lines that can be pointed at.
MOST_SLOTS = 120
#: An instant and its value; null: not known.
Point = tuple[datetime, float | None]


class Part(NamedTuple):
    """A part of a bar, in percent from above left."""

    x: float
    y: float
    width: float
    height: float
    hue: str


class Slot(NamedTuple):
    """A column that is pointed at, and its figures in words, a line each."""

    x: float
    width: float
    start: datetime
    lines: list[str]


class Chart(NamedTuple):
    """`key`: hue and name, in the order of the stack. `paths`: hue and points of lines in a box of 1000 × 100. `quota`: height of it."""

    ticks: list[Tick]
    parts: list[Part]
    slots: list[Slot]
    key: list[tuple[str, str]]
    paths: list[tuple[str, str]]
    quota: float | None


class Line(NamedTuple):
    """A line of a chart. `is_stairs`: a value holds until the next point; else it is of its instant, and the line goes straight."""

    hue: str
    name: str
    points: Sequence[Point]
    is_stairs: bool = False


def top_of(most: float) -> tuple[float, float]:
    """The upper edge of a chart that shows `most`, and the step of its grid: three to five round steps from 0."""
    if most <= 0:
        return 1.0, 1.0
    base = 10.0 ** floor(log10(most / 4))
    step = next(base * factor for factor in (1, 2, 2.5, 5, 10) if base * factor * 5 >= most)
    return step * ceil(most / step), step


def grid(top: float, step: float) -> list[Tick]:
    """From 0 up."""
    return [Tick(round(100 - number * step / top * 100, 2), number * step) for number in range(round(top / step) + 1)]


# ---- causes -----------------------------------------------------------------------------------------------------------------------------


class _Bar(NamedTuple):
    """The mean backlog of a stretch by the names of its causes."""

    start: datetime
    until: datetime
    means: dict[str, float]


def cause_chart(rows: Sequence[dict[str, Any]], over: Axis) -> Chart | None:
    """Stacked: the mean backlog of each window by its causes. `rows`: of subscription_causes with `log_until`. None where there is none.

    A window that is not full is as narrow as it is long. Of more than MOST_BARS windows a bar is of several.
    """
    bars = _bars(rows)
    if not bars:
        return None
    hues = {cause_name(row): hue_of(row["cause"]) for row in rows}
    totals = {name: sum(bar.means.get(name, 0.0) for bar in bars) for name in hues}
    order = sorted(totals, key=lambda name: -totals[name])
    top, step = top_of(max(sum(bar.means.values()) for bar in bars))
    parts: list[Part] = []
    slots: list[Slot] = []
    for bar in bars:
        left, right = over.place(bar.start), over.place(bar.until)
        bottom = 100.0
        for name in (name for name in order if name in bar.means):
            height = bar.means[name] / top * 100
            bottom -= height
            parts.append(Part(left, round(bottom, 2), round(max(0.2, right - left - 0.2), 2), round(height, 2), hues[name]))
        named = sorted(((mean, name) for name, mean in bar.means.items()), reverse=True)
        slots.append(Slot(left, round(max(0.2, right - left), 2), bar.start, [f"{name} {mean:,.1f}" for mean, name in named]))
    seen = max(totals.values()) / 200
    return Chart(grid(top, step), parts, slots, [(hues[name], name) for name in order if totals[name] >= seen], [], None)


def _bars(rows: Sequence[dict[str, Any]]) -> list[_Bar]:
    """In order of time, MOST_BARS at most."""
    windows: dict[tuple[datetime, datetime], dict[str, float]] = {}
    for row in rows:
        until = max(row["window_start"] + timedelta(milliseconds=1), min(row["window_end"], row["log_until"] or row["window_end"]))
        charged = windows.setdefault((row["window_start"], until), {})
        charged[cause_name(row)] = charged.get(cause_name(row), 0.0) + row["entry_us"]
    if not windows:
        return []
    first = min(start for start, _ in windows)
    longest = max(until - start for start, until in windows)
    length = longest * max(1, ceil((max(until for _, until in windows) - first) / longest / MOST_BARS))
    grouped: dict[int, list[tuple[datetime, datetime]]] = {}
    for window in sorted(windows):
        grouped.setdefault((window[0] - first) // length, []).append(window)
    return [_together(group, windows) for _, group in sorted(grouped.items())]


def _together(group: Sequence[tuple[datetime, datetime]], windows: dict[tuple[datetime, datetime], dict[str, float]]) -> _Bar:
    length_us = sum((until - start) / timedelta(microseconds=1) for start, until in group)
    names = {name: None for window in group for name in windows[window]}
    means = {name: sum(windows[window].get(name, 0.0) for window in group) / length_us for name in names}
    return _Bar(group[0][0], max(until for _, until in group), means)


# ---- lines ------------------------------------------------------------------------------------------------------------------------------


def line_chart(lines: Sequence[Line], over: Axis, form: Callable[[float], str], limit: float | None = None) -> Chart | None:
    """Lines that break where nothing is known, and where the log has a gap. `limit` is drawn where it is not far above.

    `form`: a value in words. None where nothing is known.
    """
    shown = [line._replace(points=line.points[-MOST_POINTS:]) for line in lines]
    values = [value for line in shown for _, value in line.points if value is not None]
    if not values:
        return None
    is_near = limit is not None and 0 < limit <= 3 * max(values)
    top, step = top_of(max([*values, *([limit] if is_near and limit is not None else [])]))
    paths = [(line.hue, path) for line in shown for path in _paths(line, over, top)]
    quota = round(100 - limit / top * 100, 2) if is_near and limit is not None else None
    key = [(line.hue, line.name) for line in shown] if len(shown) > 1 else []
    return Chart(grid(top, step), [], _slots(shown, over, form), key, paths, quota)


def _paths(line: Line, over: Axis, top: float) -> list[str]:
    """Unbroken stretches of two places at least."""
    paths: list[list[tuple[datetime, float]]] = [[]]
    for (at, value), (then, next_value) in pairwise([*line.points, (line.points[-1][0], None)] if line.points else []):
        if value is None:
            continue
        is_lost = over.is_lost_between(at, then)
        if not (is_lost and line.is_stairs):
            paths[-1].append((at, value))
        if not is_lost and line.is_stairs:
            paths[-1].append((then, value))
        if is_lost or next_value is None:
            paths.append([])
    return [_places(path, over, top) for path in paths if len(path) > 1]


def _places(points: Iterable[tuple[datetime, float]], over: Axis, top: float) -> str:
    """Each place once: the end of a step is the begin of the next."""
    return " ".join(dict.fromkeys(f"{over.place(at) * 10:.1f},{100 - max(0.0, value) / top * 100:.1f}" for at, value in points))


def _slots(lines: Sequence[Line], over: Axis, form: Callable[[float], str]) -> list[Slot]:
    """Columns of whole steps: from a check to the next; a value of an instant is in the column around it."""
    found: dict[datetime, list[str]] = {}
    for line in lines:
        name = f"{line.name} " if len(lines) > 1 else ""
        for at, value in line.points:
            if value is not None:
                found.setdefault(at, []).append(f"{name}{form(value)}")
    times = sorted(found)
    chosen = times[:: max(1, ceil(len(times) / MOST_SLOTS))]
    if lines[0].is_stairs:
        edges = [*chosen, max(at for line in lines for at, _ in line.points)]
    else:
        edges = [chosen[0], *(before + (after - before) / 2 for before, after in pairwise(chosen)), chosen[-1]]
    places = [over.place(edge) for edge in edges]
    return [Slot(x, round(max(0.2, until - x), 2), at, found[at]) for at, (x, until) in zip(chosen, pairwise(places), strict=True)]
