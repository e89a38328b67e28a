"""The declared log as a JSON Schema (draft 2020-12) of one event: what a writer of logs can check without this project.

It is as strict as the parser but for three things that JSON Schema cannot express: 1.0 is an integer there, a key may repeat, and sizes
in bytes have no bound. An unknown type and an unknown field keep the contract.
"""

import json
from typing import Any

from schemas.events import (
    ENVELOPE_REQUIRED,
    EVENT_TYPES,
    FIELDS,
    LOG_VERSIONS,
    LONG_MAX,
    LONG_MIN,
    NEVER_EMPTY,
    EventField,
    EventType,
)

_TYPES = {"long": "integer", "string": "string", "boolean": "boolean", "map": "object", "longs": "array", "strings": "array"}
_STRING_OR_LONG = {"strings": {"type": "string"}, "longs": {"type": "integer", "minimum": LONG_MIN, "maximum": LONG_MAX}}
_PRESENT: dict[str, Any] = {"not": {"type": "null"}}


def event_schema() -> dict[str, Any]:
    """The schema of one event. A null is an absent field."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:dispatch-analytics:event-log:{LOG_VERSIONS[-1]}",
        "title": f"One event of the dispatch-event log, version {LOG_VERSIONS[-1]}",
        "type": "object",
        **_required(ENVELOPE_REQUIRED),
        "allOf": [{"properties": {name: _property(field) for name, field in FIELDS.items()}}, *(_of_type(kind) for kind in EVENT_TYPES)],
    }


def event_schema_text() -> str:
    """The whole of docs/reference/event-log.schema.json."""
    return json.dumps(event_schema(), ensure_ascii=False, indent=1) + "\n"


def _required(names: tuple[str, ...]) -> dict[str, Any]:
    return {"required": list(names), "properties": dict.fromkeys(names, _PRESENT)}


def _property(field: EventField) -> dict[str, Any]:
    words = f"{field.meaning} ({field.unit})" if field.unit else field.meaning
    declared: dict[str, Any] = {"description": words, "type": [_TYPES[field.kind], "null"]}
    if field.one_of:
        declared["enum"] = [*field.one_of, None]
    if field.kind == "long":
        declared |= {"minimum": field.minimum, "maximum": field.maximum}
    if field.kind == "map":
        declared["additionalProperties"] = {"type": "string"}
    if field.kind in _STRING_OR_LONG:
        declared["items"] = _STRING_OR_LONG[field.kind]
    if field.name in NEVER_EMPTY:
        declared["minLength"] = 1
    return declared


def _of_type(kind: EventType) -> dict[str, Any]:
    is_of_type = {"properties": {"type": {"const": kind.name}}, "required": ["type"]}
    needs = kind.needs
    then: dict[str, Any] = {"description": kind.meaning, **_required(kind.required)}
    if needs is not None:
        then["allOf"] = [
            {"if": {"properties": {needs.by: {"const": value}}, "required": [needs.by]}, "then": _required(names)}
            for value, names in needs.fields.items()
            if names
        ]
    return {"if": is_of_type, "then": then}
