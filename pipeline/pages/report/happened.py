"""The moments of a story as lines of a table: repeats of the same are one line, which opens. Pure."""

from collections.abc import Hashable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from pipeline.pages import numbers
from pipeline.pages.repeats import folded
from pipeline.pages.report.story import Moment

Row = dict[str, Any]
#: Single ones of a repeat in its fold.
MOST_REPEATS = 100
#: A kind's icon (a symbol of icons.html) and hue.
_LOOKS = {"eviction": ("loss", "harm"), "producers": ("shut", "harm"), "limit": ("held", "lim"), "log": ("gap", "harm")}


class Happened(NamedTuple):
    """A line: `head` in its hue, `name` of whom, `words`. `last` is null, and `each` empty, of one moment alone; `more` are left out."""

    first: datetime
    last: datetime | None
    icon: str
    hue: str
    head: str
    name: str
    words: str
    each: list[tuple[datetime, str]]
    more: int


def happened(moments: Sequence[Moment]) -> list[Happened]:
    """In order of time. Folded are evictions of one quota by one subscription, and causes of one that change again and again."""
    return [_line(run) for run in folded(moments, _repeats, lambda moment: moment.at)]


def _repeats(moment: Moment) -> Hashable:
    if moment.kind not in ("eviction", "producers", "cause"):
        return None
    words = moment.words.partition(":")[0] if moment.kind != "cause" else ""
    return (moment.kind, moment.broker, moment.topic, moment.subscription, words)


def _line(run: Sequence[Moment]) -> Happened:
    one = run[0]
    icon, hue = _LOOKS.get(one.kind, ("", ""))
    name = " / ".join(part for part in ((one.topic or "").rpartition("/")[2], one.subscription) if part) or one.broker
    if len(run) == 1:
        head = {"limit": "Limit", "log": "Log", "eviction": "Eviction", "producers": "Producers", "cause": "Cause"}.get(one.kind, one.kind)
        return Happened(one.at, None, icon, hue, f"{head} of", f"{name}:", one.words, [], 0)
    passed = numbers.span((run[-1].at - one.at).total_seconds())
    each = [(moment.at, moment.words) for moment in run[:MOST_REPEATS]]
    more = len(run) - len(each)
    if one.kind == "eviction":
        lost = sum(moment.entries for moment in run)
        return Happened(one.at, run[-1].at, icon, hue, f"{len(run):,} evictions in {passed}:", name, f"lost {lost:,} entries.", each, more)
    if one.kind == "producers":
        head, words = f"{len(run):,} checks in {passed} found a quota exceeded:", "producers are shut out."
        return Happened(one.at, run[-1].at, icon, hue, head, name, words, each, more)
    head, words = f"{len(run):,} changes of cause in {passed}:", f"in the end {run[-1].words}"
    return Happened(one.at, run[-1].at, icon, hue, head, f"{name},", words, each, more)


def losses(evictions: Sequence[Row]) -> list[Row]:
    """By subscription and quota: how often it lost entries, and how many, the most first."""
    found: dict[tuple[Any, ...], Row] = {}
    for row in evictions:
        key = (row["topic"], row["subscription"], row["quota_type"])
        quota = {"size": "size", "time": "age"}.get(row["quota_type"], row["quota_type"])
        one = found.setdefault(
            key, {"topic": key[0], "subscription": key[1], "quota": quota, "first": row["decided_at"], "times": 0, "entries": 0}
        )
        one["last"], one["times"], one["entries"] = row["decided_at"], one["times"] + 1, one["entries"] + row["entries_evicted"]
    return sorted(found.values(), key=lambda one: (-one["entries"], one["topic"], one["subscription"]))
