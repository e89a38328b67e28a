"""The recorded life of topics on one broker, as arrays: what a replay is made of. It only reads."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from pipeline.diagnosis.evidence import NoAnswer
from pipeline.query.room import ReadingRoom
from pipeline.rules.array import Array
from schemas.events import CODES, LIMITER_LEVELS
from schemas.render.ddl import quoted

#: Types of which a busy broker writes many, and the columns that a replay takes of them.
FREQUENT = ("publish", "read", "read_done", "dispatch", "ack", "mark_delete", "flow", "redeliver")
COLUMNS = (
    "seq", "ts", "ns", "type_code", "topic_id", "sub_id", "ledger", "entry", "msgs", "bytes", "publish_ts", "conn", "consumer", "permits",
    "entries", "duration_us", "batch_index",
)  # fmt: skip
#: Of an acknowledgement, of a move of the mark, and of entries that were given back though their consumer stayed.
FLAGS = {
    "cumulative": "ack_type = 'cumulative'",
    "sought": "`reset` AND NOT persisted",
    "in_memory": "NOT persisted",
    "asked_again": "cause <> 'consumer_closed'",
}
#: What is absent from an event; −1 is an entry, and an index of a batch.
ABSENT = -2
RARE = (
    "broker_start", "setting", "dispatch_rate", "backlog_quota", "topic_load", "topic_unload", "ledger_open", "ledger_close", "cursor_open",
    "cursor_close", "dispatcher_open", "consumer_open", "consumer_close", "quota_round", "quota_exceeded", "broker_stop",
)  # fmt: skip
_OF_RARE = (
    "seq", "ts", "ns", "type", "topic", "sub", "topic_id", "sub_id", "settings", "version", "key", "value", "level", "msg_rate",
    "byte_rate", "period_s", "relative", "limiter", "quota_type", "limit", "policy", "ledger", "entry", "entries", "bytes", "close_ts",
    "snapshot", "durable", "cursor_kind", "sub_type", "conn", "consumer", "phase",
)  # fmt: skip

Row = dict[str, Any]


@dataclass(frozen=True)
class Record:
    """One epoch of a broker. `frequent`: of each type of FREQUENT, int64 arrays by COLUMNS and FLAGS, by owner, of each in the order of the
    log; `rare`: rows of RARE in that order. `is_of_broker`: it has the events of all topics, not of one alone.

    Times: µs since 1970 (`ts`), ns of the monotonic clock (`ns`).
    """

    broker: str
    epoch: int
    frequent: dict[str, dict[str, Array]]
    rare: list[Row]
    is_of_broker: bool

    def of(self, *types: str) -> list[Row]:
        """Rare rows of these types."""
        return [row for row in self.rare if row["type"] in types]

    def all(self, event_type: str) -> dict[str, Array]:
        """Frequent events of a type."""
        return self.frequent[event_type]

    def where(self, event_type: str, owner: int, flag: str | None = None) -> dict[str, Array]:
        """Frequent events of a type, of one subscription (of a topic: `publish`), by its id; with `flag` those that have it."""
        events = self.frequent[event_type]
        ids = events[owner_of(event_type)]
        inside = slice(np.searchsorted(ids, owner), np.searchsorted(ids, owner, side="right"))
        found = {name: values[inside] for name, values in events.items()}
        return found if flag is None else {name: values[found[flag] == 1] for name, values in found.items()}

    @property
    def setting(self) -> dict[str, str]:
        """Pulsar's configuration of the broker, as it stood at the end."""
        found: dict[str, str] = {}
        for row in self.of("broker_start", "setting"):
            found.update({row["key"]: row["value"]} if row["type"] == "setting" else dict(row["settings"] or {}))
        return found


def owner_of(event_type: str) -> str:
    """The id by which events of a type are kept together."""
    return "topic_id" if event_type == "publish" else "sub_id"


def record_of(look: ReadingRoom, topic: str, broker: str | None, *, may_share: bool) -> Record:
    """The newest epoch of a broker that had the topic, or of `broker`: events of the topic; of all topics where they share a limiter.

    They do where the broker's limiter ever had a rate, or `may_share`. Raises NoAnswer where the log has no such topic.
    """
    of_broker = "" if broker is None else f" AND broker = {quoted(broker)}"
    lives = look.rows(
        "SELECT broker, broker_id, epoch, min(topic_id) AS topic_id FROM dispatch_events"
        f" WHERE topic = {quoted(topic)}{of_broker} GROUP BY broker, broker_id, epoch ORDER BY max(ts)"
    )
    if not lives:
        raise NoAnswer(f"the log has no event of {topic}" + ("" if broker is None else f" on {broker}"))
    life = lives[-1]
    where = f"broker_id = {life['broker_id']} AND epoch = {life['epoch']}"
    rare = _rare(look, where)
    is_shared = may_share or _has_broker_rate(rare)
    of_topic = "" if is_shared else f" AND topic_id = {life['topic_id']}"
    return Record(life["broker"], life["epoch"], _frequent(look, where + of_topic), rare, is_shared)


def _has_broker_rate(rare: Sequence[Row]) -> bool:
    rates = [row for row in rare if row["type"] == "dispatch_rate" and row["level"] == LIMITER_LEVELS[0]]
    return any(row["msg_rate"] > 0 or row["byte_rate"] > 0 for row in rates)


def _frequent(look: ReadingRoom, where: str) -> dict[str, dict[str, Array]]:
    codes = ", ".join(str(CODES[name]) for name in FREQUENT)
    columns = ", ".join(f"coalesce(`{name}`, {ABSENT}) AS `{name}`" for name in COLUMNS)
    columns += "".join(f", CASE WHEN {question} THEN 1 ELSE 0 END AS `{name}`" for name, question in FLAGS.items())
    names = (*COLUMNS, *FLAGS)
    batches = list(look.batches(f"SELECT {columns} FROM dispatch_events WHERE {where} AND type_code IN ({codes}) ORDER BY seq"))
    if not batches:
        return {event_type: {name: np.zeros(0, dtype=np.int64) for name in names} for event_type in FREQUENT}
    table = pa.Table.from_batches(batches)
    arrays = {name: table[name].to_numpy().astype(np.int64, copy=False) for name in names}
    first = np.concatenate([[True], np.diff(arrays["seq"]) != 0])  # a repeat is the same event, delivered twice
    return {event_type: _by_owner(arrays, first & (arrays["type_code"] == CODES[event_type]), event_type) for event_type in FREQUENT}


def _by_owner(arrays: dict[str, Array], chosen: Array, event_type: str) -> dict[str, Array]:
    rows = np.flatnonzero(chosen)
    rows = rows[np.argsort(arrays[owner_of(event_type)][rows], kind="stable")]
    return {name: values[rows] for name, values in arrays.items()}


def _rare(look: ReadingRoom, where: str) -> list[Row]:
    types = ", ".join(map(quoted, RARE))
    columns = ", ".join(f"`{name}`" for name in _OF_RARE)
    rows = look.rows(f"SELECT {columns} FROM dispatch_events WHERE {where} AND type IN ({types}) ORDER BY seq")
    return [row for row, before in zip(rows, [None, *rows], strict=False) if before is None or before["seq"] != row["seq"]]


def ids_of(rows: Sequence[Row]) -> dict[int, str]:
    """Topics of rare rows by their ids."""
    return {row["topic_id"]: row["topic"] for row in rows if row["topic"] is not None}
