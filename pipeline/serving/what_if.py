"""`/v1/what-if` and `/v1/right-size`: the commands' documents (docs/reference/json.md), of records that are not too long for a server."""

from collections.abc import Mapping
from typing import Any

from pipeline.diagnosis.evidence import NoAnswer
from pipeline.faults import BadConfig
from pipeline.query.room import ReadingRoom
from pipeline.times import span_of, time_of
from pipeline.visible import document_json
from pipeline.what_if.answer import what_if
from pipeline.what_if.changes import KEYS, changes_of, read_budget_of
from pipeline.what_if.limited import Asked
from pipeline.what_if.right_size import right_size
from pipeline.what_if.stretch import Span
from schemas.events import LIMITER_LEVELS
from schemas.render.ddl import quoted

Document = dict[str, Any]
#: A replay cannot be interrupted: one of more events would keep a thread for longer than an answer may take.
MOST_EVENTS = 2_000_000


def what_if_document(room: ReadingRoom, asked: Mapping[str, str]) -> str:
    """Of `topic`, `subscription`, `broker`, `from`, `to`, `until`, and each key of `--set`. Raises as `what_if_of`."""
    span = _instant(asked, "from"), _instant(asked, "to")
    return document_json(what_if_of(room, asked, span))


def what_if_of(room: ReadingRoom, asked: Mapping[str, str], span: Span) -> Document:
    """The document; an empty value is none.

    Raises BadConfig for a wrong question, NoAnswer where there is nothing to replay, or too much.
    """
    topic = _topic(asked)
    until_s = span_of("until", asked["until"]).total_seconds() if asked.get("until") else None
    try:
        changes = changes_of([f"{key}={asked[key]}" for key in KEYS if asked.get(key)])
        _refuse_long(room, topic)
        return what_if(room, topic, asked.get("subscription") or None, changes, asked.get("broker") or None, span, until_s)
    except NoAnswer:  # of a wrong question it is a kind
        raise
    except BadConfig as fault:
        raise BadConfig(str(fault).removeprefix("--set ")) from None


def right_size_document(room: ReadingRoom, asked: Mapping[str, str]) -> str:
    """Of one `topic`; `keep_age`, `read_budget`, `broker`, `from` and `to` as for the command. Raises as `what_if_of`."""
    topic = _topic(asked)
    if not asked.get("keep_age"):
        raise BadConfig("keep_age: name one, as keep_age=60s")
    keep_age_s = span_of("keep_age", asked["keep_age"]).total_seconds()
    budget = read_budget_of("read_budget", asked.get("read_budget"))
    _refuse_long(room, topic)
    span = _instant(asked, "from"), _instant(asked, "to")
    return document_json(right_size(room, Asked(keep_age_s, budget, topic, None, span), asked.get("broker")))


def _topic(asked: Mapping[str, str]) -> str:
    if not asked.get("topic"):
        raise BadConfig("topic: name one, as topic=persistent://shop/eu/orders")
    return asked["topic"]


def _instant(asked: Mapping[str, str], name: str) -> Any:
    return time_of(name, asked[name]) if asked.get(name) else None


def _refuse_long(room: ReadingRoom, topic: str) -> None:
    """Where the limiter of a broker ever had a rate, all of its topics may be replayed."""
    (one,) = room.rows(
        f"SELECT count(*) AS events, count_if(topic = {quoted(topic)}) AS of_topic,"
        f" count_if(type = 'dispatch_rate' AND level = {quoted(LIMITER_LEVELS[0])} AND (msg_rate > 0 OR byte_rate > 0)) AS shares"
        f" FROM dispatch_events WHERE broker IN (SELECT DISTINCT broker FROM dispatch_events WHERE topic = {quoted(topic)})"
    )
    events = one["events"] if one["shares"] else one["of_topic"]
    if events > MOST_EVENTS:
        raise NoAnswer(f"the record has {events:,} events, and a server replays {MOST_EVENTS:,} at most: ask the command what-if")
