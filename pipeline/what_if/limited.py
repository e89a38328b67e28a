"""Which brokers have limits that `right-size` can look at, and of which topics. Without the rules, which a replay needs."""

from typing import NamedTuple

from pipeline.diagnosis.evidence import NoAnswer
from pipeline.query.room import ReadingRoom
from pipeline.what_if.stretch import Span
from schemas.events import LIMITER_LEVELS
from schemas.render.ddl import quoted

#: Levels of limiters of one topic: the broker's is one of all.
LEVELS = LIMITER_LEVELS[1:]


class Asked(NamedTuple):
    """How old entries may get, and bytes a second that the broker may read (null: as many as it likes). `span`: from and to.

    `topic`, `namespace`: only limits of these; without both the broker's limiter is looked at, too.
    """

    keep_age_s: float
    read_budget: float | None = None
    topic: str | None = None
    namespace: str | None = None
    span: Span = (None, None)


class Limited(NamedTuple):
    """A broker, and its topics with a limit: none of them where only the broker has one."""

    broker: str
    topics: tuple[str, ...]


def limited(look: ReadingRoom, asked: Asked, broker: str | None) -> list[Limited]:
    """Each broker, in order of names, with its topics that have, or had, a limiter of their own or of a subscription.

    Of several brokers a topic is the last one's. A broker whose own limiter has a rate is there without topics, too, unless a topic or a
    namespace was asked for. Raises NoAnswer where no limiter is in the log.
    """
    of_broker = "" if broker is None else f" AND broker = {quoted(broker)}"
    levels = ", ".join(map(quoted, LEVELS))
    rows = look.rows(
        f"SELECT topic, max_by(broker, ts) AS broker FROM dispatch_events WHERE type = 'dispatch_rate' AND level IN ({levels})"
        f" AND (msg_rate > 0 OR byte_rate > 0){of_broker} GROUP BY topic ORDER BY topic"
    )
    found: dict[str, list[str]] = {}
    for row in rows:
        if asked.topic in (None, row["topic"]) and asked.namespace in (None, row["topic"].partition("://")[2].rpartition("/")[0]):
            found.setdefault(row["broker"], []).append(row["topic"])
    if asked.topic is None and asked.namespace is None:
        for row in look.rows(
            f"SELECT DISTINCT broker FROM dispatch_events WHERE type = 'dispatch_rate' AND level = {quoted(LIMITER_LEVELS[0])}"
            f" AND (msg_rate > 0 OR byte_rate > 0){of_broker}"
        ):
            found.setdefault(row["broker"], [])
    if not found:
        raise NoAnswer("no topic with a limit of its own, or of a subscription or its broker, is in the log")
    return [Limited(name, tuple(topics)) for name, topics in sorted(found.items())]
