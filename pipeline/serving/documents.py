"""The commands' JSON documents as answers over HTTP: the same keys, the same values (docs/reference/json.md)."""

from collections.abc import Mapping

from pipeline.diagnosis.answer import answer
from pipeline.diagnosis.no_event import why_no_row
from pipeline.diagnosis.topic_answer import topic_answer
from pipeline.faults import BadConfig
from pipeline.query.room import ReadingRoom
from pipeline.query.views.status_words import WELL
from pipeline.query.views.why_at import why_sql
from pipeline.times import USUAL_WINDOW, span_of, time_of
from pipeline.visible import document_json

#: The names in the query of a request with their values, each once.
Asked = Mapping[str, str]


def why_document(room: ReadingRoom, asked: Asked) -> str:
    """`/v1/why`: `subscriptions`, a row of the view `why` each, the largest backlog × time first. `all=true`: also those that are well.

    `as_of`: every row is at least as new; null where there is no row, and then `reason` has why. `at`: as of the window of that instant.
    Raises BadConfig for a bad time.
    """
    rows = room.rows(why_sql(time_of("at", asked["at"]) if "at" in asked else None))
    chosen = [row for row in rows if _flag(asked, "all") or row["status"] not in WELL]
    as_of = min((row["as_of"] for row in rows), default=None)
    reason = {} if rows else {"reason": why_no_row(room, asked.get("at"))}
    return document_json({"as_of": as_of, "subscriptions_known": len(rows), **reason, "subscriptions": chosen})


def explain_document(room: ReadingRoom, asked: Asked) -> str:
    """`/v1/explain`: about `topic` and `subscription`, or about the topic as a whole; `broker`, `at` and `window` as for the command.

    Raises NoAnswer where there is none, BadConfig for a question that nobody can answer.
    """
    if not asked.get("topic"):
        raise BadConfig("topic: name one, as topic=persistent://shop/eu/orders")
    at = time_of("at", asked["at"]) if "at" in asked else None
    if "subscription" not in asked:
        return document_json(topic_answer(room, asked["topic"], asked.get("broker"), at))
    window = span_of("window", asked.get("window", USUAL_WINDOW))
    return document_json(answer(room, asked["topic"], asked["subscription"], asked.get("broker"), at, window))


def readiness_document(room: ReadingRoom, _: Asked) -> str:
    """`/readyz`: up to when answers know each broker (`brokers`), and the newest of these instants (`as_of`; null: no broker is known)."""
    brokers = room.rows("SELECT broker, as_of, window_as_of FROM newest_events ORDER BY broker")
    return document_json({"brokers": brokers, "as_of": max((row["as_of"] for row in brokers), default=None)})


def _flag(asked: Asked, name: str) -> bool:
    value = asked.get(name, "false")
    if value not in ("true", "false"):
        raise BadConfig(f"{name}: expected true or false")
    return value == "true"
