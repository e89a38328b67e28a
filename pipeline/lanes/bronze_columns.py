"""Columns of bronze to lane rows (schemas/lane_columns.py), by Arrow and numpy: what project.py computes in Spark's SQL."""

from collections.abc import Mapping
from importlib import import_module

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.machines.array import Array
from schemas.events import CODES
from schemas.lane_columns import (
    COLUMN,
    ENUM_SLOTS,
    LANE_COLUMNS,
    PACKED_BITS,
    PACKED_LEAST,
    PACKED_MOST,
    PACKED_OFFSET,
    QUESTIONS,
    SETTINGS,
    SLOT_FIELDS,
    SLOTS,
    START_SETTINGS,
    united,
)
from schemas.packages import NAMES
from schemas.packages.computed import ByColumns
from schemas.render.arrow import arrow_schema
from schemas.spark_numbers import integer
from schemas.tables.bronze import DISPATCH_EVENTS

_BY_COLUMNS = [import_module(f"schemas.packages.{name}.by_columns") for name in NAMES]
#: What packages compute of events (COMPUTED_FIELDS), and what they ask about them (QUESTIONS), by name.
VALUES: dict[str, ByColumns] = united(module.VALUES for module in _BY_COLUMNS)
ANSWERS: dict[str, ByColumns] = united(module.ANSWERS for module in _BY_COLUMNS)
#: Columns of bronze that every event has and that a lane row takes over.
_TAKEN_OVER = ("epoch", "seq", "ts", "type_code", "ingest_batch", "topic_id", "sub_id")
_FIRST_SLOT, _MASK, _NS, _TS = COLUMN["s0"], COLUMN["mask"], COLUMN["ns"], COLUMN["ts"]
_NS_PER_US = 1000
_TYPES = {field.name: field.type for field in arrow_schema(DISPATCH_EVENTS.fields)}
Columns = Mapping[str, pa.Array]


def lane_columns_of(events: pa.RecordBatch) -> Array:
    """int64 [LANE_COLUMNS, events] of rows of dispatch_events. A column of bronze that `events` lacks is null in all of them."""
    count = events.num_rows
    lane = np.zeros((len(LANE_COLUMNS), count), dtype=np.int64)
    for name in _TAKEN_OVER:
        lane[COLUMN[name]] = events.column(name).to_numpy(zero_copy_only=False)
    lane[_NS] = _numbers(_column(events, "ns"), lane[_TS] * _NS_PER_US)
    for code, places in _places_of_types(lane[COLUMN["type_code"]]):
        if code in _SLOTS_OF_CODE:
            _fill_slots(lane, _SLOTS_OF_CODE[code], events, places)
    return lane


def columns_read() -> tuple[str, ...]:
    """Columns of bronze that lanes read, each once: the lane's id first."""
    named = [_needed(field) for fields in SLOT_FIELDS.values() for field in fields]
    asked = [ANSWERS[question].columns for questions in QUESTIONS.values() for question in questions]
    return tuple(dict.fromkeys(("broker_id", *_TAKEN_OVER, "ns", *(name for names in (*named, *asked) for name in names))))


def _needed(field: str) -> tuple[str, ...]:
    if field in VALUES:
        return VALUES[field].columns
    if field.startswith("settings.") or field in START_SETTINGS:
        return ("settings",)
    return ("key", "value") if field.startswith("setting.") else (field,)


_SLOTS_OF_CODE = {
    CODES[event]: (fields, tuple(ANSWERS[question] for question in QUESTIONS.get(event, {}))) for event, fields in SLOT_FIELDS.items()
}


def _places_of_types(codes: Array) -> list[tuple[int, Array]]:
    """(type code, rows of that type, ascending)."""
    order = np.argsort(codes, kind="stable")
    borders = np.flatnonzero(np.diff(codes[order])) + 1
    return [(int(codes[places[0]]), places) for places in np.split(order, borders) if len(places)]


def _fill_slots(lane: Array, declared: tuple[tuple[str, ...], tuple[ByColumns, ...]], events: pa.RecordBatch, places: Array) -> None:
    """Slots and mask of the events of one type, at `places`."""
    fields, questions = declared
    rows = pa.array(places)
    taken: dict[str, pa.Array] = {}

    def column(name: str) -> pa.Array:
        if name not in taken:
            taken[name] = _column(events, name).take(rows)
        return taken[name]

    mask = np.zeros(len(places), dtype=np.int64)
    for slot, field in enumerate(fields):
        value = _value(field, {name: column(name) for name in _needed(field)})
        lane[_FIRST_SLOT + slot, places] = _numbers(value, 0)
        mask |= _bits(value.is_valid(), slot)
    for position, question in enumerate(questions):
        mask |= _bits(question.of(*map(column, question.columns)), SLOTS + position)
    lane[_MASK, places] = mask


def _column(events: pa.RecordBatch, name: str) -> pa.Array:
    return events.column(name) if name in events.schema.names else pa.nulls(events.num_rows, _TYPES[name])


def _bits(answers: pa.Array, bit: int) -> Array:
    yes: npt.NDArray[np.bool_] = answers.to_numpy(zero_copy_only=False)
    return yes.astype(np.int64) << bit


def _numbers(values: pa.Array, otherwise: Array | int) -> Array:
    """The values as int64, `otherwise` where there is none."""
    if values.null_count == 0:
        return values.to_numpy(zero_copy_only=False)
    found = pc.fill_null(values, 0).to_numpy(zero_copy_only=False)
    return np.where(values.is_valid().to_numpy(zero_copy_only=False), found, otherwise)


def _value(field: str, columns: Columns) -> pa.Array:
    """One payload field as int64, null where an event does not have it."""
    if field in VALUES:
        computed = VALUES[field]
        return computed.of(*(columns[name] for name in computed.columns))
    source, _, key = field.partition(".")
    if source == "settings":
        return pa.array([_setting(key, of_event.get(key)) for of_event in _maps(columns["settings"])], pa.int64())
    if source == "setting":
        pairs = zip(columns["key"].to_pylist(), columns["value"].to_pylist(), strict=True)
        return pa.array([_setting(key, value) if name == key else None for name, value in pairs], pa.int64())
    if field in START_SETTINGS:
        return pa.array([_packed(START_SETTINGS[field], of_event) for of_event in _maps(columns["settings"])], pa.int64())
    if field in ENUM_SLOTS:
        return pc.index_in(columns[field], pa.array(ENUM_SLOTS[field])).cast(pa.int64())
    return columns[field].cast(pa.int64())


def _maps(settings: pa.Array) -> list[dict[str, str | None]]:
    return [dict(pairs or ()) for pairs in settings.to_pylist()]


def _setting(key: str, text: str | None) -> int | None:
    return None if text is None else _number_of(SETTINGS[key], text)


def _number_of(kind: str, text: str) -> int | None:
    """A configuration value as a number; a flag as Java reads a boolean: true in any case of letters."""
    return integer(text) if kind == "integer" else int(text.lower() == "true")


def _packed(kinds: Mapping[str, str], of_event: Mapping[str, str | None]) -> int:
    """Two configuration values in one slot."""
    first, second = (_half(kind, of_event.get(key)) for key, kind in kinds.items())
    return (first << PACKED_BITS) + second


def _half(kind: str, text: str | None) -> int:
    value = None if text is None else _number_of(kind, text)
    return 0 if value is None else max(min(value, PACKED_MOST), PACKED_LEAST) + PACKED_OFFSET
