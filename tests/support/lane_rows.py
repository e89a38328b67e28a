"""Events as dicts to lane rows, written again in plain Python: what pipeline/lanes/packets/bronze_columns.py does by columns."""

import hashlib
import re
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import numpy as np

from pipeline.rules.array import Array
from schemas.events import CODES, SUB_TYPES, TOMBSTONE_CODE
from schemas.events.points import POINTS
from schemas.ids import id_of
from schemas.lane_columns import ENUM_SLOTS, LANE_COLUMNS, SETTINGS, SLOT_FIELDS, SLOTS, START_SETTINGS
from schemas.spark_numbers import integer

TOKENS = tuple(f"{limiter}_{dimension}_tokens" for limiter in ("broker", "topic", "sub") for dimension in ("msgs", "bytes"))
Reader = Callable[[dict[str, Any]], int | None]


@cache
def text_id(*parts: str) -> int:
    """A 63-bit id of a text (the JVM uses another hash; nothing depends on which)."""
    return int.from_bytes(hashlib.blake2b("\0".join(parts).encode(), digest_size=8).digest(), "big") >> 1


def lane_rows(events: list[dict[str, Any]], ingest_batch: int = 0) -> Array:
    """int64 [n, LANE_COLUMNS] of contract events; an event may carry its own `ingest_batch`, or `tombstone: true`."""
    rows = [_row(event, ingest_batch) for event in events]
    return np.array(rows, dtype=np.int64).reshape(len(rows), len(LANE_COLUMNS))


def _row(event: dict[str, Any], ingest_batch: int) -> list[int]:
    seq, ts, ns = event["seq"], event["ts"], event.get("ns")
    where = [event["epoch"], seq, ts, ts * 1000 if ns is None else ns]
    came = [event.get("ingest_batch", ingest_batch), event.get("arrival", 0)]
    if event.get("tombstone"):
        return [*where, TOMBSTONE_CODE, *came, *[0] * (3 + SLOTS)]
    type_, topic, sub = event["type"], event.get("topic"), event.get("sub")
    names = [text_id("t", topic) if topic else 0, text_id("s", topic, sub) if topic and sub else 0]
    slots, mask = [0] * SLOTS, 0
    for slot, reader in enumerate(_readers(type_)):
        value = reader(event)
        if value is not None:
            slots[slot] = value
            mask |= 1 << slot
    for bit, answer in enumerate(_answers(event)):
        mask |= answer << (SLOTS + bit)
    return [*where, CODES.get(type_, 0), *came, *names, mask, *slots]


def _answers(event: dict[str, Any]) -> tuple[bool, ...]:
    if event["type"] == "read":
        has_one_permit = event.get("permits") is not None and event["permits"] <= 1
        return has_one_permit, any(event.get(tokens) is not None for tokens in TOKENS)
    if event["type"] == "state":
        yes = {name: bool(event.get(name)) for name in ("moving", "blocked", "read_out", "replay_out", "read_waits")}
        is_exact, is_durable = event["seq"] <= event["as_of_seq"] + 1, event.get("durable") is not False
        is_of_type = (event.get("sub_type") == sub_type for sub_type in SUB_TYPES)
        return is_exact, yes["moving"], is_durable, yes["blocked"], yes["read_out"] or yes["replay_out"], yes["read_waits"], *is_of_type
    return (bool(event.get("moving")),) if event["type"] == "topic_state" else ()


@cache
def _readers(event_type: str) -> tuple[Reader, ...]:
    """Of each payload field of a type, in the order of slots, who reads it."""
    return tuple(map(_reader, SLOT_FIELDS.get(event_type, ())))


def _reader(field: str) -> Reader:
    """Who reads the number of a payload field; None of an event without it."""
    if field in _READERS:
        return _READERS[field]
    if field.startswith("settings."):
        key = field.split(".", 1)[1]
        return lambda event: _setting(SETTINGS[key], event["settings"].get(key))
    if field.startswith("setting."):
        key = field.split(".", 1)[1]
        return lambda event: _setting(SETTINGS[key], event["value"]) if event["key"] == key else None
    if field in START_SETTINGS:
        return partial(_start_settings, START_SETTINGS[field])
    if field.endswith("_or_debt"):
        return partial(_or_debt, field.removesuffix("_or_debt"))
    if field in ENUM_SLOTS:
        numbers = {value: number for number, value in enumerate(ENUM_SLOTS[field])}
        return lambda event: None if event.get(field) is None else numbers[event[field]]
    return lambda event: None if event.get(field) is None else int(event[field])


def _want_left(event: dict[str, Any]) -> int:
    left = event.get("left_msgs")
    return _wrapped(event["want_msgs"] * 2**32 + (0 if left is None else left + 2))


def _start_settings(kinds: Mapping[str, str], event: dict[str, Any]) -> int:
    first, second = (_setting(kind, event["settings"].get(key)) for key, kind in kinds.items())
    return _half(first) * 2**31 + _half(second)


def _version_number(event: dict[str, Any]) -> int:
    parts = [integer(part, bits=32) or 0 for part in re.split(r"[^0-9.]", event["version"])[0].split(".")]
    first, second, third = (*parts, 0, 0)[:3]
    return first * 1_000_000 + second * 1_000 + third


def _or_debt(answer: str, event: dict[str, Any]) -> int | None:
    tokens, had = event.get(f"{answer}_tokens"), event.get(answer)
    return max(min(tokens, 0) - 2, -(2**63)) if had == 0 and tokens is not None else had


def _namespace_id(event: dict[str, Any]) -> int | None:
    topic, namespace = event.get("topic"), event.get("namespace")
    if namespace is None and topic is not None:
        namespace = topic.partition("://")[2].rpartition("/")[0]
    return None if namespace is None else id_of("n", namespace)


def _missing_events(event: dict[str, Any]) -> int | None:
    points = event.get("missing_points")
    return None if points is None else sum({1 << CODES[name] for point in points for name in POINTS.get(point, ())})


def _cursor_kind_number(event: dict[str, Any]) -> int:
    by_name = {"pulsar.dedup": 3, "__compaction": 4}.get(event["sub"], 2 if event["sub"].startswith("pulsar.repl") else None)
    by_life = 1 if event.get("durable") is False else 0
    kinds = ("subscription", "reader", "replicator", "deduplication", "compaction")
    return kinds.index(event["cursor_kind"]) if "cursor_kind" in event else by_life if by_name is None else by_name


_READERS: dict[str, Reader] = {
    "want_left_msgs": _want_left,
    "version_number": _version_number,
    "namespace_id": _namespace_id,
    "missing_events": _missing_events,
    "cursor_kind_number": _cursor_kind_number,
    "outside_of_round": lambda event: int(event.get("cause") is not None),
    "tells_deliveries": lambda event: int(event.get("log_version") is not None),
    "failed": lambda event: int(event.get("error") is not None),
    "keeps_alive": lambda event: int(event["command"] in ("PING", "PONG")),
}


def _wrapped(number: int) -> int:
    """Its lowest 64 bits."""
    return (number + 2**63) % 2**64 - 2**63


def _setting(kind: str, value: str | None) -> int | None:
    if value is None:
        return None
    if kind == "flag":
        return int(value.lower() == "true")
    return integer(value)


def _half(setting: int | None) -> int:
    return 0 if setting is None else min(max(setting, -1), 2**31 - 3) + 2
