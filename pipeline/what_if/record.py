"""The recorded life of topics on one broker, as arrays: what a replay is made of. It only reads."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa

from pipeline.diagnosis.evidence import NoAnswer
from pipeline.query.room import ReadingRoom
from pipeline.rules.array import Array
from pipeline.what_if.frequent import Events, frequent_of, owner_of
from pipeline.what_if.stretch import CHARGED_BEFORE_US, Span, Stretch, marks_at, rows_since, us_of
from schemas.events import CODES, LIMITER_LEVELS
from schemas.render.ddl import quoted

RARE = (
    "broker_start", "setting", "dispatch_rate", "backlog_quota", "topic_load", "topic_unload", "ledger_open", "ledger_close", "cursor_open",
    "cursor_close", "dispatcher_open", "consumer_open", "consumer_close", "quota_round", "quota_exceeded", "broker_stop",
)  # fmt: skip
_OF_RARE = (
    "seq", "ts", "ns", "type", "topic", "sub", "topic_id", "sub_id", "settings", "version", "key", "value", "level", "msg_rate",
    "byte_rate", "period_s", "relative", "limiter", "quota_type", "limit", "policy", "ledger", "entry", "entries", "bytes", "close_ts",
    "snapshot", "durable", "cursor_kind", "sub_type", "conn", "consumer", "phase",
)  # fmt: skip
#: The most frequent ones of RARE, and their columns.
_OF_LEDGERS = ("ledger_open", "ledger_close")
_COLUMNS_OF_LEDGERS = ("seq", "ts", "ns", "type", "topic", "topic_id", "ledger", "entries", "bytes", "close_ts", "snapshot")
#: Events that name a topic whose life is in the log.
_NAMING = ("topic_load", "cursor_open", "ledger_open", "ledger_close")
#: Reads tell how long storage takes: those of so many topics are enough.
TIMED_TOPICS = 50
#: Deliveries of others are charged together, all of so long at its beginning: never later than they were.
CHARGED_NS = 100_000_000
#: Pulsar's setting by which limiters count entries in place of messages.
BATCH_MODE = "dispatchThrottlingOnBatchMessageEnabled"

Row = dict[str, Any]


@dataclass(frozen=True)
class Record:
    """One epoch of a broker. `frequent`: of each type events by COLUMNS, by owner, of each in the order of the log; `rare`: rows of RARE in
    that order. `topics`: names by ids, of those whose events it has. `charges`: int64 [n, 3], (ns, permits, bytes) that other topics took
    of the broker's limiter. `is_apart`: it has one topic alone of a broker whose limiter has a rate. `stretch`: the part of the log.

    Times: µs since 1970 (`ts`), ns of the monotonic clock (`ns`).
    """

    broker: str
    epoch: int
    frequent: dict[str, Events]
    rare: list[Row]
    topics: dict[int, str]
    charges: Array
    is_apart: bool
    stretch: Stretch = field(default_factory=Stretch)

    def of(self, *types: str) -> list[Row]:
        """Rare rows of these types, in the order of the log."""
        if len(types) == 1:
            return self._by_type.get(types[0], [])
        return [row for row in self.rare if row["type"] in types]

    def of_topic(self, event_type: str, topic_id: int) -> list[Row]:
        """Rare rows of one type and topic."""
        return self._by_topic.get((event_type, topic_id), [])

    @cached_property
    def _by_type(self) -> dict[str, list[Row]]:
        found: dict[str, list[Row]] = {}
        for row in self.rare:
            found.setdefault(row["type"], []).append(row)
        return found

    @cached_property
    def _by_topic(self) -> dict[tuple[str, int], list[Row]]:
        found: dict[tuple[str, int], list[Row]] = {}
        for row in self.rare:
            found.setdefault((row["type"], row["topic_id"]), []).append(row)
        return found

    def all(self, event_type: str) -> Events:
        """Frequent events of a type."""
        return self.frequent[event_type]

    def where(self, event_type: str, owner: int) -> Events:
        """Frequent events of a type, of one subscription (of a topic: `publish`), by its id."""
        inside = self._spans[event_type].get(owner, slice(0))
        return {name: values[inside] for name, values in self.frequent[event_type].items()}

    @cached_property
    def _spans(self) -> dict[str, dict[int, slice]]:
        """By type and owner, where its events are."""
        return {event_type: _spans(events[owner_of(event_type)]) for event_type, events in self.frequent.items()}

    @cached_property
    def setting(self) -> dict[str, str]:
        """Pulsar's configuration of the broker, as it stood at the end."""
        return _settings(self.rare)


def _spans(ids: Array) -> dict[int, slice]:
    """Where each id is, of ids in order."""
    owners, firsts = np.unique(ids, return_index=True)
    return dict(zip(owners.tolist(), map(slice, firsts.tolist(), [*firsts[1:].tolist(), len(ids)]), strict=True))


def _settings(rare: Sequence[Row]) -> dict[str, str]:
    found: dict[str, str] = {}
    for row in rare:
        if row["type"] in ("broker_start", "setting"):
            found.update({row["key"]: row["value"]} if row["type"] == "setting" else dict(row["settings"] or {}))
    return found


def record_of(look: ReadingRoom, topic: str, broker: str | None, span: Span, *, may_share: bool) -> Record:
    """An epoch of a broker that had the topic (or of `broker`), the newest one within `span`: events of the topic; of all topics where they
    share a limiter.

    They do with `may_share`, or where the broker's limiter lowered a read. Where it has a rate that lowered none, others only take of it.
    With a beginning only rows are read that a replay from then on needs. Raises NoAnswer where the log has no such topic.
    """
    life = _life(look, topic, broker, span)
    where = f"broker_id = {life['broker_id']} AND epoch = {life['epoch']}"
    stretch = _stretch(life, span)
    has_rate = not may_share and _has_broker_rate(look, where)
    is_shared = may_share or (has_rate and _has_lowered(look, life))
    rare = _rare(look, where + stretch.until + ("" if is_shared else f" AND (topic IS NULL OR topic_id = {life['topic_id']})"))
    topics = {row["topic_id"]: row["topic"] for row in rare if row["type"] in _NAMING and row["topic"] is not None}
    if life["topic_id"] not in topics:
        raise NoAnswer(f"the log does not have how {topic} was loaded: neither its ledgers nor its cursors are known")
    of_topic = where + stretch.until + ("" if is_shared else f" AND topic_id = {life['topic_id']}")
    if stretch.from_us is not None:
        opened = _open_at(rare, stretch.from_us)
        stretch = replace(stretch, marks=marks_at(look, of_topic, stretch.from_us, opened))
        of_topic += rows_since(stretch, opened, [row for row in rare if row["type"] == "ledger_open"])
    frequent = _frequent(look, of_topic, list(topics) if is_shared else [], life["topic_id"])
    # Where all topics are replayed there are no others.
    has_others = not set(np.unique(frequent["dispatch"]["topic_id"]).tolist()) <= topics.keys() if is_shared else has_rate
    charges = _charges(look, where + _charged_since(stretch), list(topics), rare) if has_others else np.zeros((0, 3), np.int64)
    return Record(life["broker"], life["epoch"], frequent, rare, topics, charges, has_rate and not is_shared, stretch)


def _life(look: ReadingRoom, topic: str, broker: str | None, span: Span) -> Row:
    """The newest epoch of the topic that lies in the span; the newest of all where none does."""
    of_broker = "" if broker is None else f" AND broker = {quoted(broker)}"
    lives = look.rows(
        "SELECT broker, broker_id, epoch, min(topic_id) AS topic_id, min(ts) AS first, max(ts) AS last FROM dispatch_events"
        f" WHERE topic = {quoted(topic)}{of_broker} GROUP BY broker, broker_id, epoch ORDER BY max(ts)"
    )
    if not lives:
        raise NoAnswer(f"the log has no event of {topic}" + ("" if broker is None else f" on {broker}"))
    begin, end = (None if at is None else us_of(at) for at in span)
    inside = [life for life in lives if (begin is None or life["last"] > begin) and (end is None or life["first"] < end)]
    return [*lives, *inside][-1]


def _stretch(life: Row, span: Span) -> Stretch:
    """Without a beginning where the topic's life begins within the span, without an end where it ends within it."""
    begin, end = (None if at is None else us_of(at) for at in span)
    from_us = begin if begin is not None and begin > life["first"] else None
    return Stretch(from_us, end if end is not None and max(begin or 0, life["first"]) < end < life["last"] else None)


def _open_at(rare: Sequence[Row], at_us: int) -> list[Row]:
    """The newest `cursor_open` of each cursor that is open at an instant."""
    found: dict[int, Row] = {}
    for row in rare:
        if row["ts"] < at_us and row["type"] == "cursor_open":
            found[row["sub_id"]] = row
        elif row["ts"] < at_us and row["type"] == "cursor_close":
            found.pop(row["sub_id"], None)
    return list(found.values())


def _charged_since(stretch: Stretch) -> str:
    return stretch.until + ("" if stretch.from_us is None else f" AND ts >= {stretch.from_us - CHARGED_BEFORE_US}")


def _has_broker_rate(look: ReadingRoom, where: str) -> bool:
    rates = f"type = 'dispatch_rate' AND level = {quoted(LIMITER_LEVELS[0])} AND (msg_rate > 0 OR byte_rate > 0)"
    return bool(look.rows(f"SELECT 1 AS found FROM dispatch_events WHERE {where} AND {rates} LIMIT 1"))


def _has_lowered(look: ReadingRoom, life: Row) -> bool:
    """Whether the broker's limiter lowered a read of any topic."""
    counters = [f"dispatch_throttled_{dimension}_events_by_broker_limit" for dimension in ("msg", "bytes")]
    lowered = " OR ".join(f"{counter} > 0" for counter in counters)
    of_life = f"broker = {quoted(life['broker'])} AND epoch = {life['epoch']}"
    return bool(look.rows(f"SELECT 1 AS found FROM subscription_throttle WHERE {of_life} AND ({lowered}) LIMIT 1"))


def _frequent(look: ReadingRoom, where: str, topics: Sequence[int], topic_id: int) -> dict[str, Events]:
    """Of all topics (none named: of the one), but reads of some: those of all only where there are no grants to learn queues from."""
    grants = f"SELECT 1 AS found FROM dispatch_events WHERE {where} AND type_code = {CODES['flow']} LIMIT 1"
    if not topics or not look.rows(grants):
        return frequent_of(look, where, {})
    # Every event is asked, and a comparison is quicker than a list of fifty.
    timed = f"(topic_id <= {sorted(topics)[:TIMED_TOPICS][-1]} OR topic_id = {topic_id})"
    return frequent_of(look, where, {"read": timed, "read_done": timed})


def _charges(look: ReadingRoom, where: str, topics: Sequence[int], rare: Sequence[Row]) -> Array:
    """What topics other than these took of the broker's limiter."""
    dispatched = f"{where} AND type_code = {CODES['dispatch']}"
    permits = "entries" if _settings(rare).get(BATCH_MODE) == "true" else "msgs"
    of_others = f"topic_id NOT IN ({', '.join(map(str, topics))}) AND coalesce(charged, true)"
    query = (
        f"SELECT ns DIV {CHARGED_NS} * {CHARGED_NS} AS at_ns, sum({permits}) AS permits, sum(bytes) AS bytes FROM dispatch_events"
        f" WHERE {dispatched} AND {of_others} GROUP BY 1 ORDER BY 1"
    )
    batches = list(look.batches(query))
    if not batches:
        return np.zeros((0, 3), dtype=np.int64)
    table = pa.Table.from_batches(batches)
    return np.stack([table[name].to_numpy().astype(np.int64) for name in ("at_ns", "permits", "bytes")], axis=1)


def _rare(look: ReadingRoom, where: str) -> list[Row]:
    """Ledgers come and go in every part of a log, all others in few: these are found without unpacking the columns of the rest."""
    of_others = [event_type for event_type in RARE if event_type not in _OF_LEDGERS]
    rows = [*_rows_of(look, where, _OF_LEDGERS, _COLUMNS_OF_LEDGERS), *_rows_of(look, where, of_others, _OF_RARE)]
    rows.sort(key=itemgetter("seq"))
    return [row for row, before in zip(rows, [None, *rows], strict=False) if before is None or before["seq"] != row["seq"]]


def _rows_of(look: ReadingRoom, where: str, event_types: Iterable[str], columns: Iterable[str]) -> list[Row]:
    """Rows of these types; what is not in `columns` is null."""
    types = ", ".join(str(CODES[event_type]) for event_type in event_types)
    names = ", ".join(f"`{name}`" for name in columns)
    absent = dict.fromkeys(_OF_RARE)
    return [absent | row for row in look.rows(f"SELECT {names} FROM dispatch_events WHERE {where} AND type_code IN ({types})")]
