"""Columns of bronze to lane rows (schemas/lane_columns.py), by Arrow and numpy."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.rules.array import Array
from pipeline.sources.parse.arrival import arrivals
from schemas.events import CODES
from schemas.lane_columns import (
    COLUMN,
    COMPUTED_FIELDS,
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
from schemas.render.arrow import arrow_schema
from schemas.spark_numbers import integer
from schemas.tables.bronze import DISPATCH_EVENTS

ByColumns = Callable[..., Any]
Columns = Mapping[str, pa.Array]
_BY_COLUMNS = [import_module(f"schemas.packages.{name}.by_columns") for name in NAMES]
#: How packages compute fields (COMPUTED_FIELDS), and answer questions (QUESTIONS), by name: Arrow arrays of the declared columns → one of a
#: value, or null, for each event.
VALUES: dict[str, ByColumns] = united(module.VALUES for module in _BY_COLUMNS)
ANSWERS: dict[str, ByColumns] = united(module.ANSWERS for module in _BY_COLUMNS)
#: Columns of bronze that every event has and that a lane row takes over.
_TAKEN_OVER = ("epoch", "seq", "ts", "type_code", "ingest_batch", "topic_id", "sub_id")
_FIRST_SLOT, _MASK, _NS, _TS, _ARRIVAL = (COLUMN[name] for name in ("s0", "mask", "ns", "ts", "arrival"))
#: What makes `arrival`.
_SOURCE = ("source_file", "source_line")
_NS_PER_US = 1000
_TYPES = {field.name: field.type for field in arrow_schema(DISPATCH_EVENTS.fields)}


def lane_columns_of(events: pa.RecordBatch) -> Array:
    """int64 [LANE_COLUMNS, events] of rows of dispatch_events. A column of bronze that `events` lacks is null in all of them."""
    bronze = _Bronze(events)
    lane = np.zeros((len(LANE_COLUMNS), events.num_rows), dtype=np.int64)
    for name in _TAKEN_OVER:
        bronze.put(name, lane[COLUMN[name]])
    lane[_NS] = lane[_TS] * _NS_PER_US  # of a log without a monotonic clock
    bronze.put("ns", lane[_NS])
    lane[_ARRIVAL] = arrivals(*(bronze.column(name) for name in _SOURCE))
    for code, places in _places_of_types(lane[COLUMN["type_code"]]):
        if code in _SLOTS_OF_CODE:
            _fill_slots(lane, _SLOTS_OF_CODE[code], bronze, places)
    return lane


def columns_read() -> tuple[str, ...]:
    """Columns of bronze that lanes read, each once: the lane's id first."""
    named = [_needed(field) for fields in SLOT_FIELDS.values() for field in fields]
    asked = [columns for questions in QUESTIONS.values() for columns in questions.values()]
    return tuple(dict.fromkeys(("broker_id", *_TAKEN_OVER, "ns", *_SOURCE, *(name for names in (*named, *asked) for name in names))))


def _needed(field: str) -> tuple[str, ...]:
    if field in COMPUTED_FIELDS:
        return COMPUTED_FIELDS[field]
    if field.startswith("settings.") or field in START_SETTINGS:
        return ("settings",)
    return ("key", "value") if field.startswith("setting.") else (field,)


@dataclass(frozen=True)
class _Numbers:
    """int64 `values`, anything where there is none; `valid`: where there is one, None: everywhere."""

    values: Array
    valid: npt.NDArray[np.bool_] | None

    @classmethod
    def of(cls, column: pa.Array) -> "_Numbers":
        """Of a column of whole numbers or of flags."""
        numbers = column.cast(pa.int64())
        values = np.frombuffer(numbers.buffers()[1], dtype=np.int64)[numbers.offset : numbers.offset + len(numbers)]
        return cls(values, column.is_valid().to_numpy(zero_copy_only=False) if column.null_count else None)


class _Bronze:
    """Columns of events, each made numbers once: the types of events share them, and few events of a type are in a batch."""

    def __init__(self, events: pa.RecordBatch) -> None:
        self._events = events
        self._numbers: dict[str, _Numbers | None] = {}

    def put(self, name: str, target: Array) -> None:
        """Put the column's numbers into `target`, where there are any."""
        found = self._numbers_of(name)
        if found is not None:
            np.copyto(target, found.values, where=True if found.valid is None else found.valid)

    def numbers_at(self, name: str, places: Array) -> _Numbers | None:
        """The column at `places`; None: no event has it."""
        if name not in self._numbers:
            self._numbers[name] = self._numbers_of(name)
        found = self._numbers[name]
        return found and _Numbers(found.values[places], None if found.valid is None else found.valid[places])

    def taken(self, names: tuple[str, ...], places: Array) -> Columns:
        """The columns at `places`, as they are."""
        rows = pa.array(places)
        return {name: self.column(name).take(rows) for name in names}

    def _numbers_of(self, name: str) -> _Numbers | None:
        column = self.column(name)
        if column.null_count == len(column):
            return None
        return _Numbers.of(pc.index_in(column, pa.array(ENUM_SLOTS[name])) if name in ENUM_SLOTS else column)

    def column(self, name: str) -> pa.Array:
        """The column as it is; nulls where the events lack it."""
        return self._events.column(name) if name in self._events.schema.names else pa.nulls(self._events.num_rows, _TYPES[name])


_SLOTS_OF_CODE = {CODES[event]: (fields, QUESTIONS.get(event, {})) for event, fields in SLOT_FIELDS.items()}


def _places_of_types(codes: Array) -> list[tuple[int, Array]]:
    """(type code, rows of that type, ascending)."""
    order = np.argsort(codes, kind="stable")
    borders = np.flatnonzero(np.diff(codes[order])) + 1
    return [(int(codes[places[0]]), places) for places in np.split(order, borders) if len(places)]


def _fill_slots(lane: Array, declared: tuple[tuple[str, ...], Mapping[str, tuple[str, ...]]], bronze: _Bronze, places: Array) -> None:
    """Slots and mask of the events of one type, at `places`."""
    fields, questions = declared
    mask = np.zeros(len(places), dtype=np.int64)
    for slot, field in enumerate(fields):
        found = (
            bronze.numbers_at(field, places) if _is_column(field) else _Numbers.of(_computed(field, bronze.taken(_needed(field), places)))
        )
        if found is None:
            continue
        if found.valid is None:
            lane[_FIRST_SLOT + slot, places] = found.values
            mask |= 1 << slot
        else:
            lane[_FIRST_SLOT + slot, places] = np.where(found.valid, found.values, 0)
            mask |= found.valid.astype(np.int64) << slot
    for position, (question, columns) in enumerate(questions.items()):
        yes = ANSWERS[question](*bronze.taken(columns, places).values()).to_numpy(zero_copy_only=False)
        mask |= yes.astype(np.int64) << (SLOTS + position)
    lane[_MASK, places] = mask


def _is_column(field: str) -> bool:
    """Whether the field is a column of bronze, as it is."""
    return _needed(field) == (field,) and field not in COMPUTED_FIELDS


def _computed(field: str, columns: Columns) -> pa.Array:
    """A field that is no column of bronze, as int64, null where an event does not have it."""
    if field in VALUES:
        return VALUES[field](*columns.values())
    source, _, key = field.partition(".")
    if source == "settings":
        return pa.array([_setting(key, of_event.get(key)) for of_event in _maps(columns["settings"])], pa.int64())
    if source == "setting":
        pairs = zip(columns["key"].to_pylist(), columns["value"].to_pylist(), strict=True)
        return pa.array([_setting(key, value) if name == key else None for name, value in pairs], pa.int64())
    return pa.array([_packed(START_SETTINGS[field], of_event) for of_event in _maps(columns["settings"])], pa.int64())


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
