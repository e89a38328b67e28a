"""The page of a change: a form, and the life as it was beside the life as it would have been. Without an answer: the reason."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pipeline.pages.axis import axis
from pipeline.pages.charts import Chart, Line, line_chart
from pipeline.pages.numbers import span
from pipeline.query.room import ReadingRoom
from pipeline.serving.page.frame import frame_of, moment_of
from pipeline.serving.page.html import rendered
from pipeline.serving.what_if import what_if_of
from pipeline.visible import cut_in_the_middle
from pipeline.what_if.changes import KEYS
from pipeline.what_if.table import LEGEND, cells, name_of
from pipeline.what_if.words import answer_lines

#: Fields of the form, the common ones, with their labels. Every other key of `--set` works in the address.
FIELDS = {
    "subscription.dispatch_rate.messages": "Messages/s of the subscription",
    "subscription.dispatch_rate.bytes": "Bytes/s of the subscription",
    "topic.dispatch_rate.messages": "Messages/s of the topic",
    "topic.dispatch_rate.bytes": "Bytes/s of the topic",
    "consumers": "Consumers",
    "consumers.speed": "Speed of a consumer, a factor",
    "quota.size": "Size quota, bytes",
    "publish_rate": "Publishes, a factor",
}
NAMES = frozenset({"topic", "subscription", "broker", *KEYS})


def what_if_page(room: ReadingRoom, asked: Mapping[str, str]) -> str:
    """`/what-if`. Raises BadConfig for a question with a fault, NoAnswer where there is nothing to replay."""
    moment = moment_of(asked)
    begin = moment.at - moment.window if moment.at is not None and moment.is_range else None
    document = what_if_of(room, asked, (begin, moment.at))
    is_answer = document["self_check"]["ok"]
    changed = [one for one in document["subscriptions"] if one["changes"]] if is_answer else []
    rows = [_row(one, document) for one in document["subscriptions"]]
    return rendered(
        "what_if.html",
        frame=frame_of(room, moment),
        document=document,
        asked=asked,
        fields=FIELDS,
        others={key: asked[key] for key in KEYS if asked.get(key) and key not in FIELDS},
        lines=list(answer_lines(document)) if is_answer else [],
        rows=[row for row, one in zip(rows, document["subscriptions"], strict=True) if one["changes"]],
        others_rows=[row for row, one in zip(rows, document["subscriptions"], strict=True) if not one["changes"]],
        legend=LEGEND,
        over=axis(document["from"], document["to"], []),
        charts=[(name_of(one, document), _chart(document, one, "backlog"), _chart(document, one, "age_s")) for one in changed],
    )


def _row(one: Mapping[str, Any], document: Mapping[str, Any]) -> tuple[str, tuple[str, ...], tuple[str, ...] | None]:
    """A subscription: its name, and cells of both lives; null: there is no answer."""
    predicted = one["predicted"]
    return cut_in_the_middle(name_of(dict(one), dict(document))), cells(one["actual"]), None if predicted is None else cells(predicted)


def _chart(document: Mapping[str, Any], one: Mapping[str, Any], key: str) -> Chart | None:
    """Both lives in one chart."""
    lines = [Line("text", "as it was", _points(one["actual"], key)), Line("lim", "would be", _points(one["predicted"], key))]
    over = axis(document["from"], document["to"], [])
    return line_chart(lines, over, span if key == "age_s" else "{:,.0f}".format)


def _points(life: Mapping[str, Any], key: str) -> list[tuple[datetime, float | None]]:
    """Without a backlog there is no age: 0."""
    return [(sample["at"], sample[key] if sample["backlog"] else 0) for sample in life["samples"]]
