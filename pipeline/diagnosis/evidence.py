"""What a verdict is made of: rows of the tables about one subscription and one stretch of time. It only asks; verdict.py judges."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from typing import Any, NamedTuple

from pipeline.diagnosis.instants import time_words
from pipeline.diagnosis.margins import margins_query
from pipeline.diagnosis.no_event import no_event_words
from pipeline.faults import BadConfig
from pipeline.query.views.why_at import why_at
from pipeline.warehouse.literals import instant
from pipeline.warehouse.look import Queries
from schemas.render.ddl import quoted

Row = dict[str, Any]
#: A topic, and a subscription of it.
Named = tuple[str, str]
_WINDOW = "clock_segment, window_start, window_end"
_1970 = datetime(1970, 1, 1, tzinfo=UTC)
_BY_WINDOW = f"ORDER BY {_WINDOW}"
#: Changes that no finished window has, of subscriptions that are there.
_CHANGES_SINCE = (
    "(SELECT t.* FROM cause_transitions t JOIN newest_events n ON n.broker = t.broker AND n.epoch = t.epoch"
    " WHERE t.open AND (n.window_as_of IS NULL OR t.noticed_at > n.window_as_of))"
)


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
    other. Their queries are then the same, so whoever answers may answer them once. Raises NoAnswer with the reason where there is nothing
    to judge.
    """
    all_named = sorted({(topic, subscription), *together})
    found, epoch = _life(look, topic, subscription, broker, at, all_named)
    of_epoch = f"broker = {quoted(found)} AND epoch = {epoch}"
    newest, last = _windows(look, of_epoch, at)
    is_before_first_window = last is None and at is None
    if is_before_first_window:
        newest = last = _started(look, of_epoch, epoch)
    if last is None or (at is not None and last["log_until"] <= at - window):
        before = "" if last is None else f"; the last one before ends {time_words(last['log_until'])}"
        when = "" if at is None else f" from {time_words(at - window)} to {time_words(at)}"
        raise NoAnswer(f"{found} has no finished window{when}{before}")
    end = last["log_until"]
    asked_from = (last["window_end"] if at is None else min(at, last["window_end"])) - window
    start = max(asked_from, min(last["first"], last["window_start"]))
    asked = _Asked(look, of_epoch, topic, subscription, all_named, start, last["window_end"])
    is_now = last == newest
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
        end=end,
        is_now=is_now,
        is_before_first_window=is_before_first_window,
        asked_at=at,
        standing=asked.own(why_at(of_epoch, None if at is None else instant(at))),
        broker_windows=look.rows(f"SELECT * FROM broker_windows WHERE {of_epoch} AND {asked.stretch} {_BY_WINDOW}"),
        causes=causes,
        throttle=asked.own(f"SELECT * FROM subscription_throttle WHERE {asked.here} AND {asked.stretch} {_BY_WINDOW}"),
        limits=asked.own(_limits(asked)),
        policies=_standing_at(spans, asked.end),
        quota_policies=_standing_at(spans, max((row["check_time"] for row in quotas), default=asked.end)),
        neighbours=[row for row in look.rows(_neighbours(asked)) if row["limiter_topic"] in (None, topic)],
        quotas=quotas,
        rates=asked.own(_rates(asked)),
        more_consumers=asked.own(f"SELECT * FROM more_consumers WHERE {asked.here}") if is_now else [],
        margins=asked.own(margins_query(f"{asked.here} AND {asked.stretch}")),
    )


class _Asked(NamedTuple):
    """Conditions of the queries, and what they are about. `named`: all subscriptions that have the same queries."""

    look: Queries
    of_epoch: str
    topic: str
    subscription: str
    named: Sequence[Named]
    start: datetime
    end: datetime

    def own(self, sql: str) -> list[Row]:
        """Rows of the subscription itself, of its topic as a whole, and of its broker."""
        own = {"topic": (None, self.topic), "subscription": (None, self.subscription)}
        return [row for row in self.look.rows(sql) if all(row.get(name) in values for name, values in own.items())]

    @property
    def topics(self) -> str:
        """Names of the topics, as SQL has them in IN."""
        return _listed(topic for topic, _ in self.named)

    @property
    def subscriptions(self) -> str:
        """Names of the subscriptions."""
        return _listed(subscription for _, subscription in self.named)

    @property
    def here(self) -> str:
        """Rows of the subscriptions, and of some others of their names."""
        return f"{self.of_epoch} AND topic IN ({self.topics}) AND subscription IN ({self.subscriptions})"

    @property
    def stretch(self) -> str:
        """Windows of the stretch."""
        return f"window_end > {instant(self.start)} AND window_start < {instant(self.end)}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(quoted(name) for name in sorted(set(names)))


def _life(look: Queries, topic: str, subscription: str, broker: str | None, at: datetime | None, named: Sequence[Named]) -> tuple[str, int]:
    """Broker and epoch that had the subscription last. Raises NoAnswer if none had it.

    A topic is on one broker at a time, and moves within a window: the last instant counts at which a broker surely had it.
    """
    where = f"topic IN ({_listed(one for one, _ in named)}) AND subscription IN ({_listed(one for _, one in named)})"
    seen = [
        ("subscription_throttle", "window_start", "greatest(opened_at, window_start)"),
        ("subscription_causes", "window_start", "first_at"),
        ("subscription_backlog", "check_time", "check_time"),
    ]
    if at is None:  # of an instant of the past its window tells
        seen.append((_CHANGES_SINCE, "noticed_at", "noticed_at"))
    life = " UNION ALL ".join(
        f"SELECT broker, epoch, topic, subscription, {surely} AS seen_at FROM {table}"
        f" WHERE {where}{'' if at is None else f' AND {begun} < {instant(at)}'}"
        for table, begun, surely in seen
    )
    grain = "broker, epoch, topic, subscription"
    lived = look.rows(f"SELECT {grain}, max(seen_at) AS last FROM ({life}) GROUP BY {grain} ORDER BY last DESC, epoch DESC")
    for row in lived:
        if (row["topic"], row["subscription"]) == (topic, subscription) and broker in (None, row["broker"]):
            return row["broker"], row["epoch"]
    raise NoAnswer(no_event_words(look) or _unknown(look, topic, subscription, broker, at))


def _limits(asked: _Asked) -> str:
    """The latest row of every limiter that the subscription's reads pass."""
    return (
        "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY level, topic, subscription, dimension ORDER BY clock_segment DESC,"
        f" window_start DESC, created_at DESC) AS age FROM limiter_windows WHERE {asked.of_epoch} AND window_start < {instant(asked.end)}"
        f" AND (topic IS NULL OR topic IN ({asked.topics}))"
        f" AND (subscription IS NULL OR subscription IN ({asked.subscriptions}))) WHERE age = 1 AND closed_at IS NULL"
    )


def _policies(asked: _Asked) -> str:
    """Who had set what for the broker, the topic and the subscription, and which of it ruled, from when to when."""
    return (
        f"SELECT * FROM policy_spans WHERE {asked.of_epoch} AND (topic IS NULL OR topic IN ({asked.topics}))"
        f" AND (subscription IS NULL OR subscription IN ({asked.subscriptions}))"
        f" AND since <= {instant(asked.end)}"
    )


def _standing_at(spans: Iterable[Row], at: datetime) -> list[Row]:
    """Those of the rows that hold at that instant."""
    return [row for row in spans if row["since"] <= at and (row["until"] is None or row["until"] > at)]


def _neighbours(asked: _Asked) -> str:
    """What each subscription got of the shared limiters while they were binding."""
    return (
        "SELECT level, limiter_topic, dimension, topic, subscription, sum(used) AS used FROM noisy_neighbours"
        f" WHERE {asked.of_epoch} AND {asked.stretch} AND (limiter_topic IS NULL OR limiter_topic IN ({asked.topics}))"
        " GROUP BY level, limiter_topic, dimension, topic, subscription"
    )


def _quotas(asked: _Asked) -> str:
    """The latest forecast of each quota of the topic."""
    return (
        "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY topic, quota_type ORDER BY check_number DESC) AS age FROM quota_forecasts"
        f" WHERE {asked.of_epoch} AND topic IN ({asked.topics}) AND check_time <= {instant(asked.end)}) WHERE age = 1"
    )


def _rates(asked: _Asked) -> str:
    """The pace between the last two checks, and when it is current at the pace of the last minutes."""
    newest = (
        "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY topic, subscription ORDER BY check_number DESC) AS age"
        f" FROM subscription_rates WHERE {asked.here} AND to_time <= {instant(asked.end)}) WHERE age = 1"
    )
    key = " AND ".join(f"f.{name} = r.{name}" for name in ("broker", "epoch", "topic", "subscription", "check_number"))
    return (
        "SELECT r.*, f.current_at, f.current_from, f.current_to, f.most_entries_per_s, f.soonest_at, f.allowed, f.outpaced, f.shut_out"
        f" FROM ({newest}) r LEFT JOIN (SELECT * FROM catch_up_forecasts WHERE {asked.here}) f ON {key}"
    )


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
