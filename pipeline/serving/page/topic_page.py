"""The page of a topic: the document of `explain TOPIC`, its backlog against its quotas, and what these took."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pipeline.diagnosis.quota_fillers import evicted_lines, producer_lines
from pipeline.diagnosis.topic_answer import topic_answer
from pipeline.diagnosis.words import quota_line
from pipeline.faults import BadConfig
from pipeline.pages import numbers
from pipeline.pages.axis import axis
from pipeline.pages.charts import Line, line_chart
from pipeline.pages.rows import lost_stretches
from pipeline.query.room import ReadingRoom
from pipeline.serving.page.frame import frame_of, moment_of
from pipeline.serving.page.html import rendered
from pipeline.warehouse.literals import instant
from schemas.render.ddl import quoted

#: Evidence is folded, and has so many rows at most, the newest.
MOST_ROWS = 120


def topic_page(room: ReadingRoom, asked: Mapping[str, str]) -> str:
    """`/topic`. Raises NoAnswer where no check of it is in the log, BadConfig for a question with a fault."""
    if not asked.get("topic"):
        raise BadConfig("topic: name one")
    moment = moment_of(asked)
    document = topic_answer(room, asked["topic"], asked.get("broker"), moment.at)
    start, end = document["to"] - moment.window, document["to"]
    here = f"broker = {quoted(document['broker'])} AND epoch = {document['epoch']} AND topic = {quoted(document['topic'])}"
    checks = room.rows(
        f"SELECT * FROM topic_backlog WHERE {here} AND check_time > {instant(start)} AND check_time <= {instant(end)} ORDER BY check_number"
    )
    evictions = room.rows(
        f"SELECT * FROM evictions WHERE {here} AND decided_at > {instant(start)} AND decided_at <= {instant(end)} AND entries_evicted > 0"
        f" ORDER BY decided_at DESC LIMIT {MOST_ROWS}"
    )
    begun = checks[0]["check_time"] if checks else start
    over = axis(begun, end, lost_stretches(room, document["broker"], document["epoch"], begun, end))
    size_limit, age_limit_s = (_limit(checks, name) for name in ("backlog_quota_limit_size", "backlog_quota_limit_time"))
    return rendered(
        "topic.html",
        frame=frame_of(room, moment),
        document=document,
        largest=max((one["msg_backlog"] for one in document["subscriptions"]), default=0),
        size=line_chart([Line("none", "", _values(checks, "backlog_size"))], over, numbers.size, size_limit),
        age=line_chart([Line("none", "", _values(checks, "oldest_backlog_message_age_seconds"))], over, numbers.span, age_limit_s),
        size_limit=size_limit,
        size_words=numbers.size,
        age_limit_s=age_limit_s,
        over=over,
        checks=checks[-MOST_ROWS:][::-1],
        evictions=evictions,
        quotas=[quota_line(one, document["to"]) for one in document["quotas"]],
        producers=producer_lines(document),
        lost=evicted_lines(document),
    )


def _values(checks: list[dict[str, Any]], name: str) -> list[tuple[datetime, float | None]]:
    """At each check; an age of −1 is none."""
    return [(row["check_time"], None if row[name] is None else max(0, row[name])) for row in checks]


def _limit(checks: list[dict[str, Any]], name: str) -> int | None:
    """Of the newest check; null: none, or not known."""
    found = checks[-1][name] if checks else None
    return None if found is None or found < 1 else int(found)
