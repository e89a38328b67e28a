"""The commands' JSON documents as answers over HTTP: the same keys, the same values (docs/guide/why.md)."""

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any

from pipeline.diagnosis.answer import answer
from pipeline.diagnosis.topic_answer import topic_answer
from pipeline.faults import BadConfig, BadWarehouse
from pipeline.query.room import ReadingRoom
from pipeline.query.views.status_words import WELL
from pipeline.query.views.why_at import why_at
from pipeline.times import span_of, time_of
from pipeline.visible import visible_json
from pipeline.warehouse.literals import instant
from pipeline.warehouse.newest_cut import is_half_written

#: What a query of a request may name; each once.
Asked = Mapping[str, str]
_WINDOW = "10m"


def why_document(room: ReadingRoom, asked: Asked) -> bytes:
    """`/v1/why`: `subscriptions`, a row of the view `why` each, the largest backlog × time first. `all=true`: also those that are well.

    `at`: as of the window of that instant. Raises BadConfig for what is no time, BadWarehouse where nothing fits together yet.
    """
    _refuse_half_written(room)
    rows = room.rows("SELECT * FROM why" if "at" not in asked else why_at("true", instant(time_of("at", asked["at"]))))
    chosen = [row for row in rows if _flag(asked, "all") or row["status"] not in WELL]
    return document({"subscriptions": chosen, "subscriptions_known": len(rows)})


def explain_document(room: ReadingRoom, asked: Asked) -> bytes:
    """`/v1/explain`: about `topic` and `subscription`, or about the topic as a whole; `broker`, `at` and `window` as for the command.

    Raises NoAnswer where there is none, BadConfig for what cannot be asked, BadWarehouse where nothing fits together yet.
    """
    _refuse_half_written(room)
    if not asked.get("topic"):
        raise BadConfig("topic: name one, as topic=persistent://shop/eu/orders")
    at = time_of("at", asked["at"]) if "at" in asked else None
    if "subscription" not in asked:
        return document(topic_answer(room, asked["topic"], asked.get("broker"), at))
    window = span_of("window", asked.get("window", _WINDOW))
    return document(answer(room, asked["topic"], asked["subscription"], asked.get("broker"), at, window))


def readiness_document(room: ReadingRoom) -> bytes:
    """`/readyz`: up to when answers know each broker (`brokers`), and the newest of these instants (`as_of`; null: no window is over).

    Raises BadWarehouse where nothing fits together yet.
    """
    _refuse_half_written(room)
    brokers = room.rows("SELECT broker, as_of FROM newest_windows ORDER BY broker")
    return document({"brokers": brokers, "as_of": max((row["as_of"] for row in brokers), default=None)})


def document(content: Any) -> bytes:
    """A document as JSON: times as ISO 8601, names as they are."""
    return (visible_json(content, _json_value) + "\n").encode()


def _json_value(value: Any) -> Any:
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    raise TypeError(f"no JSON for {type(value)}")


def _flag(asked: Asked, name: str) -> bool:
    value = asked.get(name, "false")
    if value not in ("true", "false"):
        raise BadConfig(f"{name}: expected true or false")
    return value == "true"


def _refuse_half_written(room: ReadingRoom) -> None:
    if room.cut is not None and is_half_written(room, room.cut):
        raise BadWarehouse("the first micro-batch of lanes is not whole yet: ask again in a moment")
