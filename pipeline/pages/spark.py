"""A small line in a row of a table: how the backlog went, and where a quota took entries. Pure."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from pipeline.pages.axis import Axis

#: In its own units.
SPARK_WIDTH, SPARK_HEIGHT = 104, 26


class Spark(NamedTuple):
    """`line` and `area`: points; `last`: the place of now; `drops`: where a quota took entries; `most`: the value at the top."""

    line: str
    area: str
    last: tuple[float, float]
    drops: list[float]
    most: int


def spark(points: Sequence[tuple[datetime, int]], drops: Sequence[datetime], over: Axis) -> Spark | None:
    """A line from 0 to its own maximum. None of fewer than two points."""
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
