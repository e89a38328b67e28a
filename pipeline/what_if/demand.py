"""What is published to all topics of a replay, and the rows that it needs for that: made once, and taken by each life."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pipeline.rules.array import Array
from pipeline.rules.broker.layout import NONE
from pipeline.rules.records import Records, empty_rows
from pipeline.rules.replay.kinds import PUBLISH
from pipeline.rules.replay.layout import ENTRY, LEDGER, TOPIC
from pipeline.what_if.given_table import by_time, rows_of
from pipeline.what_if.scale import Scale


@dataclass(frozen=True)
class Demand:
    """Of topics in their order: `scales`, how many subscriptions each has, and how often each of its publishes comes (`times`).

    The entries of a topic are those that were there before the record, then its publishes; topics, ledgers and entries follow each other.
    """

    scales: Sequence[Scale]
    subs: Sequence[int]
    times: Sequence[Array]

    @cached_property
    def publishes(self) -> Array:
        """Given rows of all publishes, by time."""
        numbers = np.repeat(np.arange(len(self.scales)), self._published)
        return by_time(rows_of(self._of_publishes("ns"), PUBLISH, numbers))

    def topics(self) -> Records:
        """Rows of the topics as they are at the beginning."""
        topics = empty_rows(TOPIC, len(self.scales))
        topics["first_entry"] = _begins(self._entries_of_topics)
        topics["published"], topics["room"] = self._earlier, np.maximum(1, self._entries_of_topics)
        topics["first_ledger"], topics["limiter"] = self._first_ledgers, 1 + np.arange(len(topics))
        topics["ledgers"] = [int(np.flatnonzero(scale.earlier)[-1]) + 1 if scale.earlier.any() else 0 for scale in self.scales]
        topics["first_sub"], topics["subs"] = _begins(np.array(self.subs)), self.subs
        for name in ("size_limit", "time_limit_s", "held_from_ns"):
            topics[name] = NONE
        return topics

    def ledgers(self) -> Records:
        """Rows of the ledgers as they are at the beginning; `first` is where each begins in its topic."""
        ledgers = empty_rows(LEDGER, sum(len(scale.ledgers) for scale in self.scales))
        begins = _begins(np.bincount(self.entries["ledger"], minlength=len(ledgers)))
        counts = [len(scale.ledgers) for scale in self.scales]
        ledgers["first"] = begins - np.repeat(_begins(self._entries_of_topics), counts)
        ledgers["entries"] = _joined(scale.earlier for scale in self.scales)
        ledgers["bytes"] = ledgers["entries"] * self._mean_bytes
        return ledgers

    @cached_property
    def entries(self) -> Records:
        """Rows of the entries, which no replay changes. Of those from before only their ledger's mean size is known."""
        entries = empty_rows(ENTRY, int(self._entries_of_topics.sum()))
        rows, old = np.repeat(np.cumsum(self._earlier), self._published) + np.arange(self._published.sum()), np.ones(len(entries), np.bool_)
        old[rows] = False
        entries["ledger"][old] = np.repeat(np.arange(len(self._mean_bytes)), _joined(scale.earlier for scale in self.scales))
        entries["msgs"][old], entries["bytes"][old] = 1, self._mean_bytes[entries["ledger"][old]]
        numbers = [
            first + scale.ledger_rows(scale.publishes["ledger"]) for first, scale in zip(self._first_ledgers, self.scales, strict=True)
        ]
        entries["ledger"][rows] = np.repeat(_joined(numbers), _joined(self.times))
        for name, column in (("msgs", "msgs"), ("bytes", "bytes"), ("publish_ms", "publish_ts")):
            entries[name][rows] = self._of_publishes(column)
        return entries

    def _of_publishes(self, name: str) -> Array:
        """A column of all publishes, those of a topic after each other, each as often as it comes."""
        return np.repeat(_joined(scale.publishes[name] for scale in self.scales), _joined(self.times))

    @cached_property
    def _published(self) -> Array:
        return np.array([times.sum() for times in self.times], dtype=np.int64)

    @cached_property
    def _earlier(self) -> Array:
        return np.array([scale.earlier.sum() for scale in self.scales], dtype=np.int64)

    @property
    def _entries_of_topics(self) -> Array:
        return self._earlier + self._published

    @cached_property
    def _first_ledgers(self) -> Array:
        return _begins(np.array([len(scale.ledgers) for scale in self.scales]))

    @cached_property
    def _mean_bytes(self) -> Array:
        """Of entries from before, by ledger."""
        return _joined(_mean_bytes(scale) for scale in self.scales)


def demand_of(scales: Sequence[Scale], subs: Sequence[int], factors: Sequence[float]) -> Demand:
    """Of topics with so many subscriptions each; `factors` times as many entries come."""
    return Demand(scales, subs, [copies(len(scale.publishes["ns"]), factor) for scale, factor in zip(scales, factors, strict=True)])


def copies(count: int, factor: float) -> Array:
    """How often each of `count` entries comes, so that `factor` times as many come, evenly."""
    if factor == 1.0:
        return np.ones(count, dtype=np.int64)
    return np.diff(np.floor(np.arange(count + 1) * factor + 1e-9)).astype(np.int64)


def _mean_bytes(scale: Scale) -> Array:
    """Of entries from before, by ledger: as its close has it, else as the publishes of the record are."""
    usual = int(scale.publishes["bytes"].mean()) if len(scale.publishes["bytes"]) else 1
    found: Array = np.where(scale.mean_bytes > 0, scale.mean_bytes, usual)
    return found


def _begins(counts: Array) -> Array:
    """Where each of several parts begins that follow each other."""
    found: Array = np.cumsum(counts) - counts
    return found


def _joined(parts: Iterable[Array]) -> Array:
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])
