"""Events as dicts to lane rows, written again in plain Python: what pipeline/lanes/packets/bronze_columns.py does by columns."""

import hashlib
import re
from functools import cache
from typing import Any

import numpy as np

from pipeline.rules.array import Array
from schemas.events import CODES, SUB_TYPES, TOMBSTONE_CODE
from schemas.events.points import POINTS
from schemas.ids import id_of
from schemas.lane_columns import COLUMN, ENUM_SLOTS, LANE_COLUMNS, SETTINGS, SLOT_FIELDS, SLOTS, START_SETTINGS
from schemas.spark_numbers import integer

ANSWERS = tuple(f"{limiter}_{dimension}" for limiter in ("broker", "topic", "sub") for dimension in ("msgs", "bytes"))


@cache
def text_id(*parts: str) -> int:
    """A 63-bit id of a text (the JVM uses another hash; nothing depends on which)."""
    return int.from_bytes(hashlib.blake2b("\0".join(parts).encode(), digest_size=8).digest(), "big") >> 1


def lane_rows(events: list[dict[str, Any]], ingest_batch: int = 0) -> Array:
    """int64 [n, LANE_COLUMNS] of contract events; an event may carry its own `ingest_batch`, or `tombstone: true`."""
    rows = []
    for event in events:
        row = [0] * len(LANE_COLUMNS)
        rows.append(row)
        for name in ("epoch", "seq", "ts"):
            row[COLUMN[name]] = event[name]
        row[COLUMN["ns"]] = event["ns"] if event.get("ns") is not None else event["ts"] * 1000
        row[COLUMN["ingest_batch"]] = event.get("ingest_batch", ingest_batch)
        row[COLUMN["arrival"]] = event.get("arrival", 0)
        if event.get("tombstone"):
            row[COLUMN["type_code"]] = TOMBSTONE_CODE
            continue
        row[COLUMN["type_code"]] = CODES.get(event["type"], 0)
        topic, sub = event.get("topic"), event.get("sub")
        row[COLUMN["topic_id"]] = text_id("t", topic) if topic else 0
        row[COLUMN["sub_id"]] = text_id("s", topic, sub) if topic and sub else 0
        mask = 0
        for slot, field in enumerate(SLOT_FIELDS.get(event["type"], ())):
            value = _slot_value(event, field)
            if value is not None:
                row[COLUMN[f"s{slot}"]] = value
                mask |= 1 << slot
        for bit, answer in enumerate(_answers(event)):
            mask |= answer << (SLOTS + bit)
        row[COLUMN["mask"]] = mask
    return np.array(rows, dtype=np.int64).reshape(len(rows), len(LANE_COLUMNS))


def _answers(event: dict[str, Any]) -> tuple[bool, ...]:
    if event["type"] == "read":
        has_one_permit = event.get("permits") is not None and event["permits"] <= 1
        return has_one_permit, any(event.get(f"{answer}_tokens") is not None for answer in ANSWERS)
    if event["type"] == "state":
        yes = {name: bool(event.get(name)) for name in ("moving", "blocked", "read_out", "replay_out", "read_waits")}
        is_exact, is_durable = event["seq"] <= event["as_of_seq"] + 1, event.get("durable") is not False
        is_of_type = (event.get("sub_type") == sub_type for sub_type in SUB_TYPES)
        return is_exact, yes["moving"], is_durable, yes["blocked"], yes["read_out"] or yes["replay_out"], yes["read_waits"], *is_of_type
    return (bool(event.get("moving")),) if event["type"] == "topic_state" else ()


def _slot_value(event: dict[str, Any], field: str) -> int | None:
    if field == "want_left_msgs":
        left = event.get("left_msgs")
        return _wrapped(event["want_msgs"] * 2**32 + (0 if left is None else left + 2))
    if field.startswith("settings."):
        key = field.split(".", 1)[1]
        return _setting(SETTINGS[key], event["settings"].get(key))
    if field.startswith("setting."):
        key = field.split(".", 1)[1]
        return _setting(SETTINGS[key], event["value"]) if event["key"] == key else None
    if field in START_SETTINGS:
        first, second = (_setting(kind, event["settings"].get(key)) for key, kind in START_SETTINGS[field].items())
        return _half(first) * 2**31 + _half(second)
    if field == "version_number":
        parts = [integer(part, bits=32) or 0 for part in re.split(r"[^0-9.]", event["version"])[0].split(".")]
        first, second, third = (*parts, 0, 0)[:3]
        return first * 1_000_000 + second * 1_000 + third
    if field.endswith("_or_debt"):
        answer = field.removesuffix("_or_debt")
        tokens = event.get(f"{answer}_tokens")
        return max(min(tokens, 0) - 2, -(2**63)) if event.get(answer) == 0 and tokens is not None else event.get(answer)
    if field == "namespace_id":
        topic = event.get("topic")
        namespace = event.get("namespace")
        if namespace is None and topic is not None:
            namespace = topic.partition("://")[2].rpartition("/")[0]
        return None if namespace is None else id_of("n", namespace)
    if field == "missing_events":
        points = event.get("missing_points")
        return None if points is None else sum({1 << CODES[name] for point in points for name in POINTS.get(point, ())})
    if field == "cursor_kind_number":
        by_name = {"pulsar.dedup": 3, "__compaction": 4}.get(event["sub"], 2 if event["sub"].startswith("pulsar.repl") else None)
        by_life = 1 if event.get("durable") is False else 0
        kinds = ("subscription", "reader", "replicator", "deduplication", "compaction")
        return kinds.index(event["cursor_kind"]) if "cursor_kind" in event else by_life if by_name is None else by_name
    if field == "outside_of_round":
        return int(event.get("cause") is not None)
    if field in ("tells_deliveries", "failed"):
        return int(event.get({"tells_deliveries": "log_version", "failed": "error"}[field]) is not None)
    if field == "keeps_alive":
        return int(event["command"] in ("PING", "PONG"))
    value = event.get(field)
    if value is None:
        return None
    return ENUM_SLOTS[field].index(value) if field in ENUM_SLOTS else int(value)


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
