"""What a verdict is made of: rows of the tables about one subscription and one stretch of time. It only asks; verdict.py judges."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from typing import Any

from pipeline.diagnosis.asked import Asked, Life, Named, lives, of_lives
from pipeline.diagnosis.instants import time_words
from pipeline.diagnosis.margins import margins_query
from pipeline.diagnosis.no_event import no_event_words
from pipeline.faults import BadConfig
from pipeline.query.views.catch_up_at import catch_up_at
from pipeline.query.views.why_at import why_at
from pipeline.warehouse.literals import instant
from pipeline.warehouse.look import Queries

Row = dict[str, Any]
_WINDOW = "clock_segment, window_start, window_end"
_1970 = datetime(1970, 1, 1, tzinfo=UTC)
_BY_WINDOW = f"ORDER BY {_WINDOW}"


class NoAnswer(BadConfig):
    """The tables hold nothing from which the question could be answered; the message says what they lack."""


@dataclass(frozen=True)
class Evidence:
    """Rows by the tables and views that they are of; empty where there are none. Times have the zone UTC.

    `start` to `end`: whole windows, the first and the last one as far as the log has them: `end` is the instant of the answer. Of a broker
    that has just started (`is_before_first_window`): from its start to its newest event.
    `asked_at`: the instant that was asked about, null: now. `is_now`: no newer window of the broker is there, so that rows of views of now
    belong to the stretch. `standing`: the row of the view `why` as of `end`; none where the subscription is not there at that instant.
    `broker_windows`: of the stretch. `policies`: of policy_spans, what was set and in force at the end.
    `quota_policies`: the same at the check that `quotas` are of: the topic may have been unloaded since.
    """

    broker: str
    epoch: int
    topic: str
    subscription: str
    start: datetime
    end: datetime
    is_now: bool
    is_before_first_window: bool
    asked_at: datetime | None
    standing: list[Row]
    broker_windows: list[Row]
    causes: list[Row]
    throttle: list[Row]
    limits: list[Row]
    policies: list[Row]
    quota_policies: list[Row]
    neighbours: list[Row]
    quotas: list[Row]
    rates: list[Row]
    more_consumers: list[Row]
    margins: list[Row]


def evidence(
    look: Queries,
    topic: str,
    subscription: str,
    broker: str | None,
    at: datetime | None,
    window: timedelta,
    together: Collection[Named] = (),
) -> Evidence:
    """Of the last `window` before `at` (now: the end of the broker's newest window), in whole windows.

    Of several brokers that had the topic the last one, or `broker`. `together`: more subscriptions that are asked about one after the
    other. Their queries are then the same, also on several brokers with the same windows, so whoever answers may answer them once. Raises
    NoAnswer with the reason where there is nothing to judge.
    """
    own = Named(broker, topic, subscription)
    had = lives(look, {own, *together}, at)
    if own not in had:
        raise NoAnswer(no_event_words(look) or _unknown(look, topic, subscription, broker, at))
    found, epoch = had[own]
    last, is_now, is_before_first_window = _last_window(look, had[own], at, window)
    asked_from = (last["window_end"] if at is None else min(at, last["window_end"])) - window
    start = max(asked_from, min(last["first"], last["window_start"]))
    asked = Asked(look, own, had, start, last["window_end"])
    causes = asked.own(
        f"SELECT * FROM subscription_causes WHERE {asked.here} AND {asked.stretch} {_BY_WINDOW}, entry_us DESC, ns DESC, cause"
    )
    quotas, spans = asked.own(_quotas(asked)), asked.own(_policies(asked))
    return Evidence(
        broker=found,
        epoch=epoch,
        topic=topic,
        subscription=subscription,
        start=max(min([start, *(row["window_start"] for row in causes)]), _begun(epoch, last)),
        end=last["log_until"],
        is_now=is_now,
        is_before_first_window=is_before_first_window,
        asked_at=at,
        standing=asked.own(why_at(asked.of_epochs, None if at is None else instant(at), apart=True)),
        broker_windows=asked.of_broker(f"SELECT * FROM broker_windows WHERE {asked.of_epochs} AND {asked.stretch} {_BY_WINDOW}"),
        causes=causes,
        throttle=asked.own(f"SELECT * FROM subscription_throttle WHERE {asked.here} AND {asked.stretch} {_BY_WINDOW}"),
        limits=asked.own(_limits(asked)),
        policies=_standing_at(spans, asked.end),
        quota_policies=_standing_at(spans, max((row["check_time"] for row in quotas), default=asked.end)),
        neighbours=[row for row in asked.of_broker(_neighbours(asked)) if row["limiter_topic"] in (None, topic)],
        quotas=quotas,
        rates=asked.own(catch_up_at(asked.of_epochs, asked.here, asked.end)),
        more_consumers=asked.own(f"SELECT * FROM more_consumers WHERE {asked.here}") if is_now else [],
        margins=asked.own(margins_query(f"{asked.here} AND {asked.stretch}")),
    )


def _limits(asked: Asked) -> str:
    """The latest row of every limiter that the subscription's reads pass."""
    return (
        "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY broker, epoch, level, topic, subscription, dimension"
        " ORDER BY clock_segment DESC, window_start DESC, created_at DESC) AS age"
        f" FROM limiter_windows WHERE {asked.of_epochs} AND window_start < {instant(asked.end)}"
        f" AND (topic IS NULL OR topic IN ({asked.topics}))"
        f" AND (subscription IS NULL OR subscription IN ({asked.subscriptions}))) WHERE age = 1 AND closed_at IS NULL"
    )


def _policies(asked: Asked) -> str:
    """Who had set what for the broker, the topic and the subscription, and which of it ruled, from when to when."""
    return (
        f"SELECT * FROM policy_spans WHERE {asked.of_epochs} AND (topic IS NULL OR topic IN ({asked.topics}))"
        f" AND (subscription IS NULL OR subscription IN ({asked.subscriptions}))"
        f" AND since <= {instant(asked.end)}"
    )


def _standing_at(spans: Iterable[Row], at: datetime) -> list[Row]:
    """Those of the rows that hold at that instant."""
    return [row for row in spans if row["since"] <= at and (row["until"] is None or row["until"] > at)]


def _neighbours(asked: Asked) -> str:
    """What each subscription got of the shared limiters while they were binding."""
    return (
        "SELECT broker, epoch, level, limiter_topic, dimension, topic, subscription, sum(used) AS used FROM noisy_neighbours"
        f" WHERE {asked.of_epochs} AND {asked.stretch} AND (limiter_topic IS NULL OR limiter_topic IN ({asked.topics}))"
        " GROUP BY broker, epoch, level, limiter_topic, dimension, topic, subscription"
    )


def _quotas(asked: Asked) -> str:
    """The latest forecast of each quota of the topic."""
    return (
        "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY broker, epoch, topic, quota_type ORDER BY check_number DESC) AS age"
        f" FROM quota_forecasts WHERE {asked.of_epochs} AND topic IN ({asked.topics}) AND check_time <= {instant(asked.end)}) WHERE age = 1"
    )


def _last_window(look: Queries, life: Life, at: datetime | None, window: timedelta) -> tuple[Row, bool, bool]:
    """The last window before `at` (now), whether it is the newest of all, and whether it stands for one that is not finished yet.

    Raises NoAnswer where none lies in the time that is asked about.
    """
    broker, epoch = life
    of_epoch = of_lives([life])
    newest, last = _windows(look, of_epoch, at)
    is_before_first_window = last is None and at is None
    if is_before_first_window:
        newest = last = _started(look, of_epoch, epoch)
    if last is None or (at is not None and last["log_until"] <= at - window):
        before = "" if last is None else f"; the last one before ends {time_words(last['log_until'])}"
        when = "" if at is None else f" from {time_words(at - window)} to {time_words(at)}"
        raise NoAnswer(f"{broker} has no finished window{when}{before}")
    return last, last == newest, is_before_first_window


def _windows(look: Queries, of_epoch: str, at: datetime | None) -> tuple[Row | None, Row | None]:
    """The epoch's newest window, and the last one that begins before `at`; `first` is when its first one begins.

    By clock segment first: a clock may have been set back.
    """
    lasting = f"broker_windows WHERE {of_epoch} AND log_until > window_start"
    known = f"SELECT {_WINDOW}, log_until, min(window_start) OVER () AS first FROM {lasting}"
    query = f"SELECT * FROM ({known}) WHERE {{}} ORDER BY clock_segment DESC, window_start DESC LIMIT 1"
    newest = next(iter(look.rows(query.format("true"))), None)
    return newest, newest if at is None else next(iter(look.rows(query.format(f"window_start < {instant(at)}"))), None)


def _started(look: Queries, of_epoch: str, epoch: int) -> Row | None:
    """In the place of a window, of a broker without one: from the start of the process to its newest event."""
    (row,) = look.rows(f"SELECT max(as_of) AS as_of FROM newest_events WHERE {of_epoch}")
    if row["as_of"] is None:
        return None
    begun = min(_1970 + timedelta(milliseconds=epoch), row["as_of"])
    return {"clock_segment": 0, "window_start": begun, "window_end": row["as_of"], "log_until": row["as_of"], "first": begun}


def _begun(epoch: int, window: Row) -> datetime:
    """When the process began, if that is in the epoch's first window: before that there was nothing. Else the begin of that window.

    A clock that was set since may have another time.
    """
    begun, first = _1970 + timedelta(milliseconds=epoch), window["first"]
    return begun if first <= begun < first + (window["window_end"] - window["window_start"]) else min(first, window["window_start"])


def _unknown(look: Queries, topic: str, subscription: str, broker: str | None, at: datetime | None) -> str:
    """Why nothing is known of the subscription: a wrong name, or nothing happened to it."""
    names = look.rows("SELECT DISTINCT topic, subscription FROM names WHERE level = 'subscription'")
    topics = {row["topic"] for row in names}
    if topic not in topics:
        near = get_close_matches(topic, list(topics), 1)
        return f"no subscription of a topic {topic} is in the log{f'; did you mean {near[0]}?' if near else ''}"
    of_topic = sorted(row["subscription"] for row in names if row["topic"] == topic)
    if subscription not in of_topic:
        return f"topic {topic} has no subscription {subscription} in the log, only {', '.join(of_topic)}"
    where, when = "" if broker is None else f" on {broker}", "" if at is None else f" before {time_words(at)}"
    return f"nothing happened to {subscription} of {topic}{where}{when} that a window has: no backlog, no read"
