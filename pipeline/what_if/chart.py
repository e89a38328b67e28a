"""Small charts of text: backlog and age over time, both lives on one scale. Pure."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from pipeline.diagnosis.counts import entries
from pipeline.diagnosis.duration import duration

Document = dict[str, Any]

CHART_COLUMNS = 60
_BARS = " ▁▂▃▄▅▆▇█"
#: A column in which an age is not known.
_UNKNOWN = "?"


def chart_lines(name: str, one: Document) -> Iterable[str]:
    """The backlog of a subscription over time, then the age of its oldest entry."""
    lives = [("as it was", one["actual"]), ("would be", one["predicted"])]
    yield from _chart(f"backlog of {name}", [(label, _of(life, "backlog")) for label, life in lives], lambda most: entries(int(most)))
    yield from _chart(f"oldest entry of {name}", [(label, _ages(life)) for label, life in lives], duration)


def projected_lines(name: str, one: Document) -> Iterable[str]:
    """The projected backlog of a subscription over time."""
    lives = [("as set", one["projected"]["as_it_was"]), ("would be", one["projected"]["would_be"])]
    yield from _chart(
        f"projected backlog of {name}", [(label, _of(life, "backlog")) for label, life in lives], lambda most: entries(int(most))
    )


def _chart(title: str, series: list[tuple[str, list[float | None]]], words: Any) -> Iterable[str]:
    highest = max((value for _, values in series for value in values if value is not None), default=0)
    yield f"{title}, up to {words(highest)}"
    for label, values in series:
        yield f"  {label.ljust(9)}  {bars(values, max(highest, 1e-9))}"


def _of(life: Document, key: str) -> list[float | None]:
    return [sample[key] for sample in life["samples"]]


def _ages(life: Document) -> list[float | None]:
    """Without a backlog there is no age: 0. With one its age may be not known: null."""
    return [sample["age_s"] if sample["backlog"] else 0 for sample in life["samples"]]


def bars(values: Sequence[float | None], highest: float) -> str:
    """The highest of each column's values; any above nothing is seen. A column of which one value is not known (null) has a `?`."""
    columns, last = min(CHART_COLUMNS, len(values)), len(_BARS) - 1
    borders = [len(values) * k // columns for k in range(columns + 1)]
    return "".join(_bar(values[begin:end], highest, last) for begin, end in pairwise(borders))


def _bar(values: Sequence[float | None], highest: float, last: int) -> str:
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return _UNKNOWN
    most = max(known)
    return _BARS[0] if most <= 0 else _BARS[min(last, max(1, round(most / highest * last)))]
