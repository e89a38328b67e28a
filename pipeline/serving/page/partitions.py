"""Partitions of one topic that the same cause holds are one line, which opens. Pure."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from pipeline.pages.axis import axis
from pipeline.pages.spark import Spark, spark
from pipeline.serving.page.now import Line

_PARTITION = re.compile(r"(.+)-partition-(\d+)")


class Unit(NamedTuple):
    """A line of the list: of one subscription, or of all `parts`; `known`: how many partitions of the topic it has. `key` names it."""

    line: Line
    parts: list[Line]
    known: int
    key: str


def units(lines: Sequence[Line]) -> list[Unit]:
    """In the order of their worst lines. Two partitions at least are folded."""
    groups: dict[tuple[str, ...], list[Line]] = {}
    known: dict[tuple[str, str], int] = {}
    for line in lines:
        found = _PARTITION.fullmatch(line.topic)
        if found is None:
            groups[line.topic, line.subscription] = [line]
            continue
        whole = (found[1], line.subscription)
        known[whole] = known.get(whole, 0) + 1
        groups.setdefault((*whole, line.badge.word, line.cause_badge.word, line.cause), []).append(line)
    return [_unit(key, group, known.get((key[0], key[1]), 0)) for key, group in groups.items()]


def _unit(key: tuple[str, ...], group: list[Line], known: int) -> Unit:
    if len(group) == 1:
        return Unit(group[0], [], 0, f"{group[0].topic} {group[0].subscription}")
    return Unit(_together(key[0], group), group, known, " ".join(key))


def _together(topic: str, group: list[Line]) -> Line:
    """The worst line, with the sums of all."""
    worst = group[0]
    ages = [line.age_ms for line in group if line.age_ms is not None]
    began = [line.since for line in group if line.since is not None]
    return worst._replace(
        short_topic=topic.rpartition("/")[2],
        since=min(began, default=None),
        why=worst.why._replace(detail=f"the worst, {number_of(worst.topic)}; {worst.why.detail}".removesuffix("; ")),
        backlog=sum(line.backlog for line in group),
        least=any(line.least for line in group),
        age_ms=max(ages, default=None),
        spark=_sum(group),
        found_by=" ".join(line.found_by for line in group),
    )


def number_of(topic: str) -> str:
    """`partition 3`."""
    found = _PARTITION.fullmatch(topic)
    return "" if found is None else f"partition {found[2]}"


def _sum(group: list[Line]) -> Spark | None:
    """The backlog of all at each check, from the first instant on at which each was checked. Brokers check at times of their own."""
    checked = sorted((at, number, backlog) for number, line in enumerate(group) for at, backlog in line.backlogs)
    now: dict[int, int] = {}
    points: dict[datetime, int] = {}
    for at, number, backlog in checked:
        now[number] = backlog
        if len(now) == len(group):
            points[at] = sum(now.values())
    drops = sorted({at for line in group for at in line.drops})
    if not points:
        return None
    over = axis(min(points), max([*points, min(points) + timedelta(seconds=1)]))
    return spark(list(points.items()), [at for at in drops if at >= over.start], over)
