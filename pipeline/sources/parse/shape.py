"""Event types as the quick path sees them: which columns a row of a type has, and which rows of a table are not provably good.

Sound, not complete: a row that is not named faulty is one that parse_line would take, with exactly these values. A row that is
named faulty is no verdict, it goes to parse_line.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from schemas.events import ENVELOPE, ENVELOPE_REQUIRED, EVENT_TYPES, FIELDS, LONG_MAX, LONG_MIN, NEVER_EMPTY, EventField

Rows = npt.NDArray[np.bool_]

_ARROW = {"long": pa.int64(), "string": pa.string(), "boolean": pa.bool_()}
#: 18 digits always fit; a longer number is for parse_line to judge.
_PATTERNS = {"long": rb"-?(?:0|[1-9][0-9]{0,17})", "string": rb'"[^"]*"', "boolean": rb"(?:true|false)"}
_KEY = re.compile(rb'"([^"]*)":')


@dataclass(frozen=True)
class TypeShape:
    """The plain columns (long, string, boolean) of one event type, envelope first."""

    name: str
    code: int
    fields: tuple[EventField, ...]
    required: frozenset[str]

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns as pyarrow's JSON reader shall read them."""
        return pa.schema([(field.name, _ARROW[field.kind]) for field in self.fields])

    @cached_property
    def pattern(self) -> re.Pattern[bytes]:
        """Lines that the JSON reader is likely to take; used only to find quickly the few lines of a block that it refused."""
        kinds = []
        for kind, value in _PATTERNS.items():
            names = b"|".join(field.name.encode() for field in self.fields if field.kind == kind)
            if names:
                kinds.append(rb'"(?:' + names + rb')": ?' + value)
        member = rb"(?:" + rb"|".join(kinds) + rb")"
        return re.compile(rb"\{" + member + rb"(?:, ?" + member + rb")*\}\n?")

    def is_likely(self, line: bytes) -> bool:
        """Whether the JSON reader will probably take the plain line `line`."""
        if self.pattern.fullmatch(line) is None:
            return False
        keys = _KEY.findall(line)
        return len(set(keys)) == len(keys)


def _shapes() -> dict[str, TypeShape]:
    shapes = {}
    for declared in EVENT_TYPES:
        # What a type needs by the value of a field, and maps, are read row by row: both are rare and left to parse_line.
        if declared.needs or any(FIELDS[name].kind == "map" for name in declared.required):
            continue
        fields = (*ENVELOPE, *(FIELDS[name] for name in declared.fields if FIELDS[name].kind in _ARROW))
        shapes[declared.name] = TypeShape(declared.name, declared.code, fields, frozenset((*ENVELOPE_REQUIRED, *declared.required)))
    return shapes


#: Event types that the quick path reads.
SHAPES = _shapes()


def faulty_rows(shape: TypeShape, table: pa.Table, keys: npt.NDArray[np.int64]) -> Rows:
    """Which rows of `table` are not provably good events of `shape`.

    `table` has `shape.schema` (one chunk a column); `keys` is how many fields each row has in its input: more than its columns
    that are not null means unknown fields, nulls, or known fields of other types.
    """
    rows = table.num_rows
    faulty = np.zeros(rows, dtype=np.bool_)
    present = np.zeros(rows, dtype=np.int64)
    for field in shape.fields:
        column = table.column(field.name).chunk(0)
        if column.null_count == rows:
            if field.name in shape.required:
                return np.ones(rows, dtype=np.bool_)
            continue
        if column.null_count:
            valid = column.is_valid().to_numpy(zero_copy_only=False)
            present += valid
            if field.name in shape.required:
                faulty |= ~valid
        else:
            present += 1
        faulty |= _out_of_bounds(field, column)
    faulty |= present != keys
    if not pc.all(pc.equal(table.column("type"), shape.name)).as_py():
        faulty |= ~_true(pc.equal(table.column("type").chunk(0), shape.name))
    return faulty


class TypedRows:
    """Columns of a table's rows by name, and `keys`: how many fields each row has."""

    def __init__(self, columns: Mapping[str, pa.Array], rows: int) -> None:
        self._columns = {name: column for name, column in columns.items() if column.null_count < rows}
        #: Where a column that has values and nulls has a value.
        self._valid = {
            name: column.is_valid().to_numpy(zero_copy_only=False) for name, column in self._columns.items() if column.null_count
        }
        everywhere = len(self._columns) - len(self._valid)
        self.keys = np.full(rows, everywhere, dtype=np.int64)
        for valid in self._valid.values():
            self.keys += valid

    def have_bounds_kept(self) -> bool:
        """Whether no value of a field of the contract is out of bounds, whatever the type of its event."""
        return not any(
            np.any(_out_of_bounds(FIELDS[name], column))
            for name, column in self._columns.items()
            if name in FIELDS and column.type == _ARROW.get(FIELDS[name].kind)
        )

    def complete(self, shape: TypeShape, at: npt.NDArray[np.int64]) -> Rows:
        """Which of the rows `at` have all that the shape requires, and nothing that it does not have."""
        present = np.zeros(len(at), dtype=np.int64)
        found = np.ones(len(at), dtype=np.bool_)
        for field in shape.fields:
            if field.name in self._valid:
                valid = self._valid[field.name][at]
                if field.name in shape.required:
                    found &= valid
                present += valid
            elif field.name in self._columns:
                present += 1
            elif field.name in shape.required:
                return np.zeros(len(at), dtype=np.bool_)
        return found & (present == self.keys[at])


def _out_of_bounds(field: EventField, column: pa.Array) -> Rows | np.bool_:
    """Rows whose value (null: never) is outside of the declared range, or empty where that must not be."""
    if field.kind == "long" and (field.minimum > LONG_MIN or field.maximum < LONG_MAX):
        bounds = pc.min_max(column)
        if bounds["min"].as_py() < field.minimum or bounds["max"].as_py() > field.maximum:
            return _true(pc.or_(pc.less(column, field.minimum), pc.greater(column, field.maximum)))
    if field.one_of:
        known = pc.is_in(column, value_set=pa.array([*field.one_of, None], pa.string()))
        if not pc.all(known).as_py():
            return ~_true(known)
    if field.name in NEVER_EMPTY and pc.min(pc.binary_length(column)).as_py() == 0:
        return _true(pc.equal(column, ""))
    return np.bool_(False)


def _true(condition: pa.Array) -> Rows:
    rows: Rows = pc.fill_null(condition, False).to_numpy(zero_copy_only=False)
    return rows
