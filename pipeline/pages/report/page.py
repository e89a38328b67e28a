"""The file of a story: one page, no script, no network, with the look and the parts of the pages of `serve`."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from jinja2 import Template
from markupsafe import Markup

from pipeline.diagnosis.recovery import pace_line
from pipeline.diagnosis.words import consumers_line, limit_line, precedence_lines, quota_line
from pipeline.pages import numbers
from pipeline.pages.axis import Axis, axis
from pipeline.pages.badges import LOSING, Badge, badge_of
from pipeline.pages.charts import Chart, Line, cause_chart, line_chart
from pipeline.pages.html import environment, style
from pipeline.pages.report.happened import happened, losses
from pipeline.pages.report.story import MOST_ROWS, Story

Row = dict[str, Any]


class Told(NamedTuple):
    """A subscription of the story. `lost`: entries that quotas took in its time. `lines`: a head and a sentence each."""

    document: Row
    namespace: str
    lost: int
    badge: Badge
    over: Axis
    by_cause: Chart | None
    size: Chart | None
    size_about: str
    size_limit: str
    age: Chart | None
    age_about: str
    age_limit: str
    lines: list[tuple[str, str]]


def page(story: Story, doubled: Mapping[int, Sequence[str]] | None = None) -> str:
    """HTML. Names are escaped; what would steer a reader's screen is shown as its code.

    `doubled`: by number of an answer, sentences about twice the limit that holds it.
    """
    return _template().render(
        story=story,
        style=Markup(style()),  # ours, and markup would escape its selectors
        doubled=doubled or {},
        told=[_told(story, number) for number in range(len(story.answers))],
        happened=happened(story.moments),
        losses=losses(story.evictions),
        lost=sum(row["entries_evicted"] for row in story.evictions),
        most_rows=MOST_ROWS,
        size_words=numbers.size,
    )


@cache
def _template() -> Template:
    return environment("pipeline.pages.report").get_template("report.html")


def _told(story: Story, number: int) -> Told:
    document = story.answers[number]
    stretch = (document["from"], document["to"])
    over = axis(*stretch, story.lost[number])
    checks = [row for row in story.checks.get(document["topic"], []) if stretch[0] <= row["check_time"] <= stretch[1]]
    size_limit, age_limit_s = (_limit(checks, name) for name in ("backlog_quota_limit_size", "backlog_quota_limit_time"))
    size = line_chart([Line("none", "", _values(checks, "backlog_size"))], over, numbers.size, size_limit)
    age = line_chart([Line("none", "", _values(checks, "age_s"))], over, numbers.span, age_limit_s)
    name = (document["topic"], document["subscription"])
    lost = sum(row["entries_evicted"] for row in story.evictions if (row["topic"], row["subscription"]) == name)
    return Told(
        document=document,
        namespace=(document["topic"].partition("://")[2] or document["topic"]).rpartition("/")[0],
        lost=lost,
        badge=LOSING._replace(word="Lost entries") if lost else badge_of(document["status"]),
        over=over,
        by_cause=cause_chart(story.causes[number], over),
        size=size,
        size_about=f"at each quota check{_far(size, size_limit, 'size', numbers.size)}",
        size_limit=f"quota {numbers.size(size_limit or 0)}",
        age=age,
        age_about=f"s, at each quota check{_far(age, age_limit_s, 'age', numbers.span)}",
        age_limit=f"quota {numbers.span(age_limit_s or 0)}",
        lines=_lines(document),
    )


def _far(chart: Chart | None, limit: int | None, kind: str, form: Any) -> str:
    """What is to be said of a limit that the chart does not show."""
    if limit is None:
        return f"; no {kind} quota"
    return f"; the quota of {form(limit)} is far above" if chart is not None and chart.quota is None else ""


def _values(checks: list[Row], name: str) -> list[tuple[datetime, float | None]]:
    """At each check; an age of −1 is none."""
    return [(row["check_time"], None if row[name] is None else max(0, row[name])) for row in checks]


def _limit(checks: list[Row], name: str) -> int | None:
    """Of the newest check; null: none, or not known."""
    found = checks[-1][name] if checks else None
    return None if found is None or found < 1 else int(found)


def _lines(document: Row) -> list[tuple[str, str]]:
    return [
        *(("Limit", limit_line(one)) for one in document["limits"]),
        *(("Precedence", line) for line in precedence_lines(document["policies"])),
        *(("Quota", quota_line(one, document["to"])) for one in document["quotas"]),
        *([("Pace", pace_line(document))] if document["catch_up"] is not None else []),
        *([("More consumers", consumers_line(document["more_consumers"]))] if document["more_consumers"] is not None else []),
    ]
