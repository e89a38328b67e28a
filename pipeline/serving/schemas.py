"""JSON Schemas of the answers of `/v1`, for its OpenAPI file. docs/reference/json.md and views.md explain each key."""

from typing import Any

Schema = dict[str, Any]
TEXT: Schema = {"type": "string"}
COUNT: Schema = {"type": "integer", "minimum": 0}
WHOLE: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
YES_NO: Schema = {"type": "boolean"}
TIME: Schema = {"type": "string", "format": "date-time"}
LIST: Schema = {"type": "array"}
OBJECT: Schema = {"type": "object"}


def _or_null(schema: Schema) -> Schema:
    return {**schema, "type": [schema["type"], "null"]}


def _object(properties: dict[str, Schema], optional: tuple[str, ...] = (), *, closed: bool = True) -> Schema:
    """All keys but `optional` are there; `closed`: and no others."""
    required = [name for name in properties if name not in optional]
    return {"type": "object", "required": required, "properties": properties, **({"additionalProperties": False} if closed else {})}


_STANDING = {
    "broker": TEXT, "epoch": WHOLE, "topic": TEXT, "subscription": TEXT, "as_of": TIME, "known_until": TIME, "status": TEXT,
    "cause": _or_null(TEXT), "level": _or_null(TEXT), "dimension": _or_null(TEXT), "unknown_reason": _or_null(TEXT), "cap": _or_null(TEXT),
    "share": _or_null(SHARE), "time_share": _or_null(SHARE), "since": _or_null(TIME), "since_s": _or_null(NUMBER),
    "next_cause": _or_null(TEXT), "next_share": _or_null(SHARE), "backlog": COUNT, "waiting": _or_null(COUNT),
    "backlog_s": _or_null(NUMBER), "lasts_s": _or_null(NUMBER), "pace_per_s": _or_null(NUMBER), "checked_at": _or_null(TIME),
    "complete": YES_NO, "completeness": _or_null(SHARE),
}  # fmt: skip
WHY = _object(
    {
        "as_of": _or_null(TIME),
        "subscriptions_known": COUNT,
        "reason": TEXT,
        "subscriptions": {"type": "array", "items": _object(_STANDING, closed=False)},
    },
    optional=("reason",),
)

_OF_BOTH = {
    "verdict": TEXT, "broker": TEXT, "epoch": WHOLE, "topic": TEXT, "to": TIME, "unknown_reason": _or_null(TEXT),
    "quotas": LIST, "holders": LIST, "evicted": LIST, "missing": {"type": "array", "items": TEXT},
    "advice": {"type": "array", "items": OBJECT},
}  # fmt: skip
_ABOUT_SUBSCRIPTION = _object(
    {
        **_OF_BOTH, "subscription": TEXT, "from": TIME, "now": YES_NO, "status": TEXT, "behind": YES_NO,
        "cause": _or_null(TEXT), "level": _or_null(TEXT), "dimension": _or_null(TEXT), "share": _or_null(SHARE), "since": _or_null(TIME),
        "backlog": _or_null(COUNT), "waiting": _or_null(COUNT), "causes": LIST, "windows": LIST, "limits": LIST,
        "catch_up": _or_null(OBJECT), "more_consumers": _or_null(OBJECT), "confidence": {"enum": ["high", "medium", "low"]},
    },
    closed=False,
)  # fmt: skip
_ABOUT_TOPIC = _object({**_OF_BOTH, "subscriptions": LIST, "exceeded": _or_null(YES_NO)}, closed=False)
EXPLAIN = {"anyOf": [_ABOUT_SUBSCRIPTION, _ABOUT_TOPIC]}

SCALE = _object(
    {
        "topic": TEXT, "subscription": TEXT, "as_of": TIME, "status": TEXT, "more_consumers": COUNT, "why": TEXT,
        "consumers": COUNT, "consumers_wanted": COUNT,
    },
    optional=("consumers", "consumers_wanted"),
)  # fmt: skip

_CHECK = _object(
    {
        "ok": YES_NO, "area_error": NUMBER, "throttled_error": NUMBER, "evicted_error": NUMBER,
        "reasons": {"type": "array", "items": TEXT},
    }
)  # fmt: skip
_LIFE = _object(
    {"samples": LIST, "peak": COUNT, "drained_at": _or_null(TIME), "evicted_entries": COUNT, "throttled": OBJECT, "held_s": OBJECT}
)
_LIVES = _object(
    {
        "topic": TEXT, "subscription": TEXT, "type": TEXT, "changes": YES_NO, "consumers": OBJECT,
        "actual": _LIFE, "predicted": _or_null(_LIFE), "projected": _or_null(OBJECT),
    }
)  # fmt: skip
WHAT_IF = _object(
    {
        "topic": TEXT, "subscription": _or_null(TEXT), "broker": TEXT, "epoch": WHOLE, "from": TIME, "to": TIME, "self_check": _CHECK,
        "until": _or_null(OBJECT), "assumptions": {"type": "array", "items": TEXT}, "next_limit": _or_null(TEXT), "sure": YES_NO,
        "producers_held_from": _or_null(TIME), "subscriptions": {"type": "array", "items": _LIVES},
    }
)  # fmt: skip
_SIZED = _object(
    {
        "broker": TEXT, "topic": _or_null(TEXT), "subscription": _or_null(TEXT), "level": TEXT, "dimension": TEXT, "limit": COUNT,
        "period_s": COUNT, "oldest_s": NUMBER, "reads_per_s": _or_null(NUMBER), "needed": _or_null(COUNT),
        "oldest_with_needed_s": _or_null(NUMBER), "budget": _or_null(TEXT), "most": _or_null(COUNT), "verdict": TEXT,
        "held_by": _or_null(TEXT), "set_to": _or_null(COUNT), "effect": _or_null(TEXT), "command": _or_null(TEXT),
    }
)  # fmt: skip
RIGHT_SIZE = _object(
    {
        "keep_age_s": NUMBER, "read_budget": _or_null(NUMBER), "limits": {"type": "array", "items": _SIZED},
        "quotas": {"type": "array", "items": OBJECT}, "without_answer": {"type": "array", "items": OBJECT},
    }
)  # fmt: skip

_READY_BROKER = _object({"broker": TEXT, "as_of": TIME, "window_as_of": _or_null(TIME)})
READY = _object({"brokers": {"type": "array", "items": _READY_BROKER}, "as_of": _or_null(TIME)})
OPENAPI = _object({"openapi": TEXT, "info": OBJECT, "paths": OBJECT}, closed=False)
