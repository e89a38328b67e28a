"""Geometry of the page's charts, in percent of the plot: numbers alone, templates draw them. Text is not stretched with them. Pure."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from math import ceil, floor, log10
from typing import Any, NamedTuple

from pipeline.serving.page.marks import cause_name, hue_of

#: More bars, points or ticks could not be told apart.
MOST_BARS = 240
MOST_POINTS = 400
_MOST_TICKS = 7
#: Of a spark line, in its own units.
SPARK_WIDTH, SPARK_HEIGHT = 104, 26
_STEPS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800)
#: An instant and its value; null: not known.
Point = tuple[datetime, float | None]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Tick(NamedTuple):
    """A place on an axis in percent of it, and its value: a number, or an instant."""

    at: float
    value: Any


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


class Axis(NamedTuple):
    """The time that all charts of a page share."""

    start: datetime
    end: datetime

    def place(self, at: datetime) -> float:
        """Percent from the left, within the axis."""
        return round(min(100.0, max(0.0, (at - self.start) / (self.end - self.start) * 100)), 2)

    def ticks(self) -> list[Tick]:
        """On round times, seven at most."""
        length_s = (self.end - self.start).total_seconds()
        step = next((one for one in _STEPS_S if length_s / one <= _MOST_TICKS), ceil(length_s / _MOST_TICKS))
        first = ceil((self.start - _EPOCH).total_seconds() / step)
        instants = (_EPOCH + timedelta(seconds=number * step) for number in range(first, first + _MOST_TICKS + 1))
        return [Tick(self.place(at), at) for at in instants if at <= self.end]


def axis(start: datetime, end: datetime) -> Axis:
    """From `start` to `end`, and a second at least."""
    return Axis(start, max(end, start + timedelta(seconds=1)))


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


def cause_chart(rows: Sequence[dict[str, Any]], over: Axis) -> Chart | None:
    """Stacked: the mean backlog of each window by its causes. `rows`: of subscription_causes with `log_until`. None where there is none.

    A window that is not full is as narrow as it is long. Of more than MOST_BARS windows the newest are drawn.
    """
    windows: dict[tuple[datetime, datetime], dict[str, tuple[str, float]]] = {}
    for row in rows:
        until = max(row["window_start"] + timedelta(milliseconds=1), min(row["window_end"], row["log_until"] or row["window_end"]))
        charged = windows.setdefault((row["window_start"], until), {})
        mean = row["entry_us"] / ((until - row["window_start"]) / timedelta(microseconds=1))
        name = cause_name(row)
        charged[name] = (hue_of(row["cause"]), charged.get(name, ("", 0.0))[1] + mean)
    shown = dict(sorted(windows.items())[-MOST_BARS:])
    if not shown:
        return None
    totals: dict[str, float] = {}
    hues: dict[str, str] = {}
    for charged in shown.values():
        for name, (hue, mean) in charged.items():
            totals[name], hues[name] = totals.get(name, 0.0) + mean, hue
    order = sorted(totals, key=lambda name: -totals[name])
    top, step = top_of(max(sum(mean for _, mean in charged.values()) for charged in shown.values()))
    parts: list[Part] = []
    slots: list[Slot] = []
    for (start, until), charged in shown.items():
        left, right = over.place(start), over.place(until)
        bottom = 100.0
        for name in (name for name in order if name in charged):
            height = charged[name][1] / top * 100
            bottom -= height
            parts.append(Part(left, round(bottom, 2), round(max(0.2, right - left - 0.2), 2), round(height, 2), charged[name][0]))
        named = sorted(((mean, name) for name, (_, mean) in charged.items()), reverse=True)
        slots.append(Slot(left, round(max(0.2, right - left), 2), start, [f"{name} {mean:,.1f}" for mean, name in named]))
    return Chart(
        grid(top, step), parts, slots, [(hues[name], name) for name in order if totals[name] >= max(totals.values()) / 200], [], None
    )


def line_chart(
    lines: Sequence[tuple[str, Sequence[tuple[datetime, float | None]]]], over: Axis, limit: float | None = None
) -> Chart | None:
    """Lines by their hue. A null breaks none: it is left out. `limit` is drawn where it is not far above. None where nothing is known."""
    known = [(hue, [(at, value) for at, value in points if value is not None][-MOST_POINTS:]) for hue, points in lines]
    values = [value for _, points in known for _, value in points]
    if not values:
        return None
    is_near = limit is not None and 0 < limit <= 3 * max(values)
    top, step = top_of(max([*values, *([limit] if is_near and limit is not None else [])]))
    paths = [(hue, _path(points, over, top)) for hue, points in known if points]
    quota = round(100 - limit / top * 100, 2) if is_near and limit is not None else None
    return Chart(grid(top, step), [], [], [], paths, quota)


def _path(points: Iterable[tuple[datetime, float]], over: Axis, top: float) -> str:
    return " ".join(f"{over.place(at) * 10:.1f},{100 - max(0.0, value) / top * 100:.1f}" for at, value in points)


class Spark(NamedTuple):
    """`line` and `area`: points; `last`: the place of now; `drops`: where a quota took entries; `most`: the value at the top."""

    line: str
    area: str
    last: tuple[float, float]
    drops: list[float]
    most: int


def spark(points: Sequence[tuple[datetime, int]], drops: Sequence[datetime], over: Axis) -> Spark | None:
    """A small line from 0 to its own maximum. None of fewer than two points."""
    if len(points) < 2:
        return None
    most = max(value for _, value in points)
    places = [
        (round(over.place(at) / 100 * SPARK_WIDTH, 1), round(SPARK_HEIGHT - value / max(1, most) * (SPARK_HEIGHT - 3), 1))
        for at, value in points
    ]
    line = " ".join(f"{x},{y}" for x, y in places)
    area = f"{places[0][0]},{SPARK_HEIGHT} {line} {places[-1][0]},{SPARK_HEIGHT}"
    ticks = sorted({round(over.place(at) / 100 * SPARK_WIDTH, 1) for at in drops})
    return Spark(line, area, places[-1], ticks, most)
