"""The page of a subscription: the document of `explain`, and what it was like over time."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from pipeline.diagnosis.answer import answer
from pipeline.diagnosis.recovery import current_line, pace_line
from pipeline.diagnosis.verdict import is_unproven
from pipeline.diagnosis.words import REASONS, as_of_line, consumers_line, limit_line, precedence_lines, quota_line
from pipeline.faults import BadConfig
from pipeline.pages.axis import Axis, axis
from pipeline.pages.badges import badge_of
from pipeline.pages.charts import Chart, Line, Point, cause_chart, line_chart
from pipeline.pages.numbers import rate, span
from pipeline.pages.rows import cause_rows, lost_stretches
from pipeline.query.room import ReadingRoom
from pipeline.serving.page.frame import frame_of, moment_of
from pipeline.serving.page.html import rendered
from pipeline.serving.page.now import rates_of
from pipeline.serving.page.what_if_page import FIELDS
from pipeline.warehouse.literals import instant
from schemas.render.ddl import quoted

Row = dict[str, Any]
#: Evidence is folded, and has so many rows at most, the newest.
MOST_ROWS = 120


def subscription_page(room: ReadingRoom, asked: Mapping[str, str]) -> str:
    """`/subscription`. Raises NoAnswer where the log does not have it, BadConfig for a question with a fault."""
    for name in ("topic", "subscription"):
        if not asked.get(name):
            raise BadConfig(f"{name}: name one")
    moment = moment_of(asked)
    document = answer(room, asked["topic"], asked["subscription"], asked.get("broker"), moment.at, moment.window)
    rows = _Rows(room, document)
    stretch = (document["from"], document["to"])
    over = axis(*stretch, lost_stretches(room, document["broker"], document["epoch"], *stretch))
    hue = badge_of(document["status"]).hue
    line_hue = hue if hue in ("lim", "slow", "none", "chan") else "none"
    return rendered(
        "subscription.html",
        frame=frame_of(room, moment),
        asked=asked,
        document=document,
        badge=badge_of(document["status"]),
        names=_names(document),
        rates=rates_of(rows.checks),
        check=rows.checks[-1] if rows.checks else None,
        checks=rows.checks[-MOST_ROWS:][::-1],
        causes=_newest_first(rows.causes),
        over=over,
        by_cause=cause_chart(rows.causes, over),
        pace=_pace(rows.checks, over, line_hue),
        age_chart=line_chart([Line(line_hue, "", _ages(rows.checks))], over, span, _age_limit_s(document)),
        age_limit_s=_age_limit_s(document),
        limiters=rows.limiters,
        fields=FIELDS,
        lines={
            "limits": [limit_line(one) for one in document["limits"]],
            "precedence": precedence_lines(document["policies"]),
            "quotas": [quota_line(one, document["to"]) for one in document["quotas"]],
            "next": _next_lines(document),
            "as of": as_of_line(document),
        },
    )


class _Rows:
    """Rows of the stretch that the document is about: checks of its newest cursor, causes of each window, limiters of the newest window."""

    def __init__(self, room: ReadingRoom, document: Mapping[str, Any]) -> None:
        life = f"broker = {quoted(document['broker'])} AND epoch = {document['epoch']}"
        topic, name = quoted(document["topic"]), quoted(document["subscription"])
        start, end = instant(document["from"]), instant(document["to"])
        here = f"{life} AND topic = {topic} AND subscription = {name}"
        checks = room.rows(
            f"SELECT * FROM subscription_backlog WHERE {here} AND check_time >= {start} AND check_time <= {end} ORDER BY check_number"
        )
        self.checks: list[Row] = [row for row in checks if row["opened_at"] == checks[-1]["opened_at"]]
        self.causes: list[Row] = cause_rows(room, document)
        self.limiters: list[Row] = room.rows(
            f"SELECT * FROM limiter_use WHERE {life} AND window_end > {start} AND window_start < {end}"
            f" AND (topic IS NULL OR topic = {topic}) AND (subscription IS NULL OR subscription = {name})"
            f" ORDER BY window_start DESC, level, dimension, created_at DESC LIMIT {MOST_ROWS}"
        )


def _newest_first(causes: list[Row]) -> list[Row]:
    """Windows back in time, in each the largest cause first."""
    return sorted(causes, key=lambda row: (row["clock_segment"], row["window_start"]), reverse=True)[:MOST_ROWS]


def _names(document: Mapping[str, Any]) -> dict[str, str]:
    without_domain = document["topic"].partition("://")[2] or document["topic"]
    namespace, _, short = without_domain.rpartition("/")
    return {"namespace": namespace, "topic": short}


def _pace(checks: list[Row], over: Axis, hue: str) -> Chart | None:
    """Entries that come and go each second, in steps between checks."""
    lines = [("text", "come", "published_entries"), (hue, "go", "acknowledged_entries")]
    return line_chart([Line(hue, name, _steps(checks, column), is_stairs=True) for hue, name, column in lines], over, rate)


def _steps(checks: list[Row], column: str) -> list[Point]:
    """A second, from each check to the next; the last one ends what is known."""
    steps: list[Point] = []
    for before, after in pairwise(checks):
        passed_s = (after["check_time"] - before["check_time"]).total_seconds()
        steps.append((before["check_time"], (after[column] - before[column]) / passed_s if passed_s > 0 else None))
    return [*steps, (checks[-1]["check_time"], None)] if checks else []


def _ages(checks: list[Row]) -> list[Point]:
    """Seconds; a check without a backlog has none that is old."""
    return [
        (row["check_time"], 0.0 if row["msg_backlog"] == 0 else None if row["oldest_age_ms"] is None else row["oldest_age_ms"] / 1e3)
        for row in checks
    ]


def _age_limit_s(document: Mapping[str, Any]) -> int | None:
    age = document["age"]
    return None if age is None or age["limit_s"] is None or age["limit_s"] < 1 else int(age["limit_s"])


def _next_lines(document: dict[str, Any]) -> list[str]:
    """What comes next, as `explain` has it."""
    found = []
    if document["catch_up"] is not None:
        found.append(pace_line(document))
        found.append(f"Not known: {REASONS[document['unknown_reason']]}" if is_unproven(document) else current_line(document))
    if document["more_consumers"] is not None:
        found.append(f"More consumers: {consumers_line(document['more_consumers'])}")
    return found
