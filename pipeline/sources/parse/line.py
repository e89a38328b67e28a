"""The rule for one line: an event that keeps the contract, or the reason why not. Readable first; block.py is the quick twin.

Faults are looked for in this order, and the first one is the reason:

1. the line is longer than the limit: `text_too_long`
2. bytes that are not UTF-8: `invalid_utf8`
3. not one JSON value (NaN, repeated keys, more than one value, nested deeper than MAX_DEPTH): `not_json`
4. an escaped half of a surrogate pair: `invalid_utf8`
5. not an object: `not_an_object`
6. `v`: absent, not an integer, not ours: `missing_envelope_field`, `wrong_type`, `unknown_version`
7. another envelope field absent: `missing_envelope_field`
8. each contract field that is present, in contract order, whatever the type: `wrong_type`, `out_of_range`, `bad_enum`, `text_too_long`
9. the unknown fields together too long: `text_too_long`
10. a field that the type requires absent: `missing_field`

A null is the same as an absent field, except in an unknown field, which is kept as it came.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from schemas.events import (
    CODES,
    CONTRACT_VERSION,
    ENVELOPE_REQUIRED,
    FIELDS,
    LONG_MAX,
    LONG_MIN,
    NEVER_EMPTY,
    TYPES_BY_NAME,
    UNKNOWN_TYPE_CODE,
    EventField,
)

#: The contract is flat; what an unknown field may nest must not depend on how deep the caller's own stack is.
MAX_DEPTH = 100
#: Python refuses to convert integers of thousands of digits; from here on they stay text.
_LONGEST_INTEGER = 400
_SHOWN = 80
_POSITION = {name: position for position, name in enumerate(FIELDS)}
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"?', re.DOTALL)


@dataclass(frozen=True, slots=True)
class ParseLimits:
    """Sizes in bytes of UTF-8: a whole line, one text in it, and how much of a rejected line is kept."""

    max_line_bytes: int = 1_048_576
    max_text_bytes: int = 65_536
    raw_bytes: int = 8_192


class Envelope(NamedTuple):
    """Where a rejected line belongs: enough for a tombstone in its lane. `ts` in µs, `ns` in ns (absent: ts × 1000)."""

    broker: str
    epoch: int
    seq: int
    ts: int
    ns: int


@dataclass(frozen=True, slots=True)
class ParsedEvent:
    """Column → value, for the columns of PARSED_FIELDS that are not null (without source_file and source_line)."""

    values: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reject:
    """Why a line is no event: a code of schemas.tables.bronze.REASONS, what exactly, and its envelope if that could be read."""

    reason: str
    detail: str
    envelope: Envelope | None = None


@dataclass(frozen=True, slots=True)
class _Number:
    """A JSON number that is no int of Python's: its text, and whether it is an integer."""

    text: str
    integral: bool


class _Fault(Exception):
    """Reason and detail of a line that could not be read as an object."""


def parse_line(raw: bytes, limits: ParseLimits) -> ParsedEvent | Reject:
    """The event on the line `raw` (without its end), or the first fault in the order that the module names."""
    if len(raw) > limits.max_line_bytes:
        return Reject("text_too_long", f"line of {len(raw)} bytes, limit {limits.max_line_bytes}", read_envelope(raw, limits))
    try:
        record = _read_object(raw)
    except _Fault as fault:
        return Reject(*fault.args)
    fault_found = _version_fault(record) or _missing_envelope(record) or _first_field_fault(record, limits)
    if fault_found:
        return Reject(*fault_found, _envelope(record, limits))
    values = {name: value for name, value in record.items() if value is not None and name in FIELDS}
    unknown = {name: value for name, value in record.items() if name not in FIELDS}
    if unknown:
        values["extra"] = _compact(unknown)
        size = len(values["extra"].encode())
        if size > limits.max_text_bytes:
            return Reject("text_too_long", f"unknown fields of {size} bytes, limit {limits.max_text_bytes}", _envelope(record, limits))
    absent = _missing_field(values)
    if absent:
        return Reject("missing_field", absent, _envelope(record, limits))
    values["type_code"] = CODES.get(values["type"], UNKNOWN_TYPE_CODE)
    return ParsedEvent(values)


def read_envelope(raw: bytes, limits: ParseLimits) -> Envelope | None:
    """The envelope of a line that is rejected for its size or its file's end; None unless the line is whole and the envelope good."""
    try:
        return _envelope(_read_object(raw), limits)
    except _Fault:
        return None


def _envelope(record: dict[str, Any], limits: ParseLimits) -> Envelope | None:
    """The envelope without `type`, if each of its fields is good."""
    for name in ("v", "broker", "epoch", "seq", "ts", "ns"):
        value = record.get(name)
        if value is None and name == "ns":
            continue
        if value is None or _field_fault(FIELDS[name], value, limits):
            return None
    ns = record.get("ns")
    return Envelope(record["broker"], record["epoch"], record["seq"], record["ts"], record["ts"] * 1000 if ns is None else ns)


def _read_object(raw: bytes) -> dict[str, Any]:
    """The JSON object on the line; _Fault(reason, detail) for faults 2 to 5."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _Fault("invalid_utf8", f"byte {raw[error.start]:#04x} at {error.start}: {error.reason}") from None
    if raw.count(b"{") + raw.count(b"[") > MAX_DEPTH and _depth(text) > MAX_DEPTH:
        raise _Fault("not_json", f"nested deeper than {MAX_DEPTH}")
    try:
        record = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise _Fault("not_json", f"{error.msg} at character {error.pos}") from None
    if "\\u" in text:
        try:
            _compact(record).encode()
        except UnicodeEncodeError:
            raise _Fault("invalid_utf8", "an escaped half of a surrogate pair") from None
    if not isinstance(record, dict):
        raise _Fault("not_an_object", f"{_shown(record)} is not an object")
    return record


def _depth(text: str) -> int:
    """How deep brackets nest outside of strings (of a text that may not be JSON at all)."""
    depth = deepest = 0
    for character in re.findall(r"[\[\]{}]", _STRING.sub("", text)):
        depth += 1 if character in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) != len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for position, name in enumerate(names) if name in names[:position])
        raise _Fault("not_json", f"repeated key {_shown(repeated)}")
    return record


def _integer(text: str) -> "int | _Number":
    return int(text) if len(text) <= _LONGEST_INTEGER else _Number(text, integral=True)


def _no_constant(text: str) -> Any:
    raise _Fault("not_json", f"{text} is not JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unrepeated,
    parse_int=_integer,
    parse_float=lambda text: _Number(text, integral=False),
    parse_constant=_no_constant,
)


def _compact(value: Any) -> str:
    """`value` as JSON without spaces, numbers and keys as they came."""
    if isinstance(value, _Number):
        return value.text
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(key, ensure_ascii=False)}:{_compact(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_compact, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _shown(value: Any) -> str:
    """`value` for a detail: JSON, in one line, ASCII, cut."""
    text = _compact(value).encode("ascii", "backslashreplace").decode()
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def _version_fault(record: dict[str, Any]) -> tuple[str, str] | None:
    version = record.get("v")
    if version is None:
        return "missing_envelope_field", "v is absent"
    integral = version.integral if isinstance(version, _Number) else type(version) is int
    if integral and version != CONTRACT_VERSION:
        return "unknown_version", f"v is {_shown(version)}, expected {CONTRACT_VERSION}"
    return None if integral else ("wrong_type", f"v: {_shown(version)} is not a long")


def _missing_envelope(record: dict[str, Any]) -> tuple[str, str] | None:
    absent = next((name for name in ENVELOPE_REQUIRED if record.get(name) is None), None)
    return ("missing_envelope_field", f"{absent} is absent") if absent else None


def _first_field_fault(record: dict[str, Any], limits: ParseLimits) -> tuple[str, str] | None:
    """The fault of the earliest field in contract order; the keys of a line may come in any order."""
    first: tuple[int, tuple[str, str]] | None = None
    for name, value in record.items():
        declared = FIELDS.get(name)
        if declared is None or value is None:
            continue
        fault = _field_fault(declared, value, limits)
        if fault and (first is None or _POSITION[name] < first[0]):
            first = (_POSITION[name], fault)
    return first[1] if first else None


def _field_fault(declared: EventField, value: Any, limits: ParseLimits) -> tuple[str, str] | None:
    return _KIND_FAULTS[declared.kind](declared, value, limits)


def _long_fault(declared: EventField, value: Any, limits: ParseLimits) -> tuple[str, str] | None:
    if isinstance(value, _Number) and value.integral:
        return "out_of_range", f"{declared.name}: {_shown(value)} is beyond 64 bits"
    if type(value) is not int:
        return "wrong_type", f"{declared.name}: {_shown(value)} is not a long"
    if not declared.minimum <= value <= declared.maximum:
        return "out_of_range", f"{declared.name}: {_shown(value)} is not in {declared.minimum} … {declared.maximum}"
    return None


def _string_fault(declared: EventField, value: Any, limits: ParseLimits) -> tuple[str, str] | None:
    if type(value) is not str:
        return "wrong_type", f"{declared.name}: {_shown(value)} is not a string"
    if not value and declared.name in NEVER_EMPTY:
        return "out_of_range", f"{declared.name} is empty"
    if declared.one_of and value not in declared.one_of:
        return "bad_enum", f"{declared.name}: {_shown(value)} is none of {', '.join(declared.one_of)}"
    return _length_fault(declared.name, value, limits)


def _length_fault(name: str, text: str, limits: ParseLimits) -> tuple[str, str] | None:
    # UTF-8 has one to four bytes a character: most texts need not be encoded to be measured.
    if len(text) * 4 <= limits.max_text_bytes:
        return None
    size = len(text.encode())
    return ("text_too_long", f"{name} of {size} bytes, limit {limits.max_text_bytes}") if size > limits.max_text_bytes else None


def _boolean_fault(declared: EventField, value: Any, limits: ParseLimits) -> tuple[str, str] | None:
    return None if type(value) is bool else ("wrong_type", f"{declared.name}: {_shown(value)} is not a boolean")


def _map_fault(declared: EventField, value: Any, limits: ParseLimits) -> tuple[str, str] | None:
    if type(value) is not dict:
        return "wrong_type", f"{declared.name}: {_shown(value)} is not an object"
    for key, text in value.items():
        if type(text) is not str:
            return "wrong_type", f"{declared.name}.{_shown(key)}: {_shown(text)} is not a string"
        fault = _length_fault(f"a key of {declared.name}", key, limits) or _length_fault(f"{declared.name}.{_shown(key)}", text, limits)
        if fault:
            return fault
    return None


def _longs_fault(declared: EventField, value: Any, limits: ParseLimits) -> tuple[str, str] | None:
    if type(value) is not list:
        return "wrong_type", f"{declared.name}: {_shown(value)} is not a list"
    word = EventField(f"a word of {declared.name}", "long", "", minimum=LONG_MIN, maximum=LONG_MAX)
    return next((fault for item in value if (fault := _long_fault(word, item, limits))), None)


def _strings_fault(declared: EventField, value: Any, limits: ParseLimits) -> tuple[str, str] | None:
    if type(value) is not list:
        return "wrong_type", f"{declared.name}: {_shown(value)} is not a list"
    for item in value:
        if type(item) is not str:
            return "wrong_type", f"an item of {declared.name}: {_shown(item)} is not a string"
        fault = _length_fault(f"an item of {declared.name}", item, limits)
        if fault:
            return fault
    return None


_KIND_FAULTS: dict[str, Callable[[EventField, Any, ParseLimits], tuple[str, str] | None]] = {
    "long": _long_fault,
    "string": _string_fault,
    "boolean": _boolean_fault,
    "map": _map_fault,
    "longs": _longs_fault,
    "strings": _strings_fault,
}


def _missing_field(values: dict[str, Any]) -> str:
    """Which required field the event lacks, in words; '' if none."""
    declared = TYPES_BY_NAME.get(values["type"])
    if declared is None:
        return ""
    absent = next((name for name in declared.required_of(values) if name not in values), None)
    return f"{declared.name} without {absent}" if absent else ""
