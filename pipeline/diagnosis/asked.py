"""Subscriptions that are asked about together, the broker that had each of them last, and conditions of the queries that they share."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from pipeline.warehouse.literals import instant
from pipeline.warehouse.look import Queries
from schemas.render.ddl import quoted

Row = dict[str, Any]
#: A broker, and an epoch of it.
Life = tuple[str, int]
#: Changes that no finished window has, of subscriptions that are there.
_CHANGES_SINCE = (
    "(SELECT t.* FROM cause_transitions t JOIN newest_events n ON n.broker = t.broker AND n.epoch = t.epoch"
    " WHERE t.open AND (n.window_as_of IS NULL OR t.noticed_at > n.window_as_of))"
)


class Named(NamedTuple):
    """A subscription of a topic: on this broker, or on the last one that had it."""

    broker: str | None
    topic: str
    subscription: str


class Asked(NamedTuple):
    """What queries are about. `lives`: of `named`, and of all that are asked about with it. Windows from `start` to `end`."""

    look: Queries
    named: Named
    lives: Mapping[Named, Life]
    start: datetime
    end: datetime

    def of_broker(self, sql: str) -> list[Row]:
        """Rows of the life of the subscription's own broker."""
        return [row for row in self.look.rows(sql) if (row["broker"], row["epoch"]) == self.lives[self.named]]

    def own(self, sql: str) -> list[Row]:
        """Rows of the subscription itself, of its topic as a whole, and of its broker."""
        own = {"topic": (None, self.named.topic), "subscription": (None, self.named.subscription)}
        return [row for row in self.of_broker(sql) if all(row.get(name) in values for name, values in own.items())]

    @property
    def of_epochs(self) -> str:
        """Rows of all lives."""
        return of_lives(self.lives.values())

    @property
    def topics(self) -> str:
        """Names of the topics, as SQL has them in IN."""
        return _listed(one.topic for one in self.lives)

    @property
    def subscriptions(self) -> str:
        """Names of the subscriptions."""
        return _listed(one.subscription for one in self.lives)

    @property
    def here(self) -> str:
        """Rows of the subscriptions, and of some others of their names."""
        return f"{self.of_epochs} AND topic IN ({self.topics}) AND subscription IN ({self.subscriptions})"

    @property
    def stretch(self) -> str:
        """Windows of the stretch."""
        return f"window_end > {instant(self.start)} AND window_start < {instant(self.end)}"


def of_lives(lives: Iterable[Life]) -> str:
    """SQL: rows of these lives."""
    each = [f"broker = {quoted(broker)} AND epoch = {epoch}" for broker, epoch in sorted({*lives})]
    return each[0] if len(each) == 1 else f"({' OR '.join(each)})"


def lives(look: Queries, named: Collection[Named], at: datetime | None) -> dict[Named, Life]:
    """Broker and epoch that had each subscription last, before `at` (now); without those that none had.

    A topic is on one broker at a time, and moves within a window: the last instant counts at which a broker surely had it.
    """
    where = f"topic IN ({_listed(one.topic for one in named)}) AND subscription IN ({_listed(one.subscription for one in named)})"
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
    found: dict[Named, Life] = {}
    for row in lived:
        for broker in (None, row["broker"]):
            one = Named(broker, row["topic"], row["subscription"])
            if one in named:
                found.setdefault(one, (row["broker"], row["epoch"]))
    return found


def _listed(names: Iterable[str]) -> str:
    return ", ".join(quoted(name) for name in sorted({*names}))
