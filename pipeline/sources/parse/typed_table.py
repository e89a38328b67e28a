"""The log as a table (Parquet, Delta): the same columns, the same checks, the same reasons as for lines.

A null is an absent field. A row that is not provably good is written as the JSON line that it stands for and goes to parse_line,
so its reason and its raw text are those of a file. Columns that the contract does not know end in `extra`.
"""

import datetime
import decimal
import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.sources.parse.line import ParseLimits
from pipeline.sources.parse.outcome import EVENT_SCHEMA, ParsedBlock, SlowRows, assemble, event_table, parse_singly, reject_batch
from pipeline.sources.parse.shape import SHAPES, TypedRows, TypeShape, faulty_rows

Ints = npt.NDArray[np.int64]

#: No row of a table has a file or a line.
_NO_FILE = ""
#: JSON's escapes make a byte six at worst; keys, numbers and punctuation of a whole row stay below this.
_BYTES_PER_BYTE = 6
_BYTES_BESIDE_TEXT = 8_192
_SHAPES = tuple(SHAPES.values())
_TYPE_NAMES = pa.array(list(SHAPES))
#: Stands for the type code of a row that is not provably good.
_NOT_GOOD = -1
#: A batch with less than one such row in so many is taken as it is, but for them.
_FEW = 100


def parse_typed(batch: pa.RecordBatch, limits: ParseLimits) -> ParsedBlock:
    """Events and rejects of a table's rows, in their order; every row counts as one line. source_file is '' and source_line 0.

    `batch` may lack columns, have others beside, and have narrower integers or large or dictionary strings.
    """
    rows = batch.num_rows
    columns = {name: _readable(batch.column(place)) for place, name in enumerate(batch.schema.names)}
    typed = TypedRows(columns, rows)
    of_shapes = [(shape, at) for shape, at in _rows_of_shapes(columns, _short_rows(columns, rows, limits)) if _has_columns(shape, columns)]
    if typed.have_bounds_kept():
        codes = np.full(rows, _NOT_GOOD, dtype=np.int32)
        for shape, at in of_shapes:
            codes[at[typed.complete(shape, at)]] = shape.code
        if np.count_nonzero(codes == _NOT_GOOD) <= rows // _FEW:
            return _mostly_as_it_is(columns, codes, limits)
    quick = []
    done = np.zeros(rows, dtype=np.bool_)
    for shape, at in of_shapes:
        table, good = _good_rows(shape, columns, at, typed.keys[at])
        quick.append((table, at[good]))
        done[at[good]] = True
    slow = _singly(columns, np.flatnonzero(~done), limits)
    return assemble(quick, slow, np.zeros(rows, dtype=np.int64), _NO_FILE, rows)


def _singly(columns: dict[str, pa.Array], at: Ints, limits: ParseLimits) -> SlowRows:
    """The rows `at`, each as the line that it stands for."""
    records = pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns)).take(pa.array(at))
    raws = [json_line(record) for record in _records(records)]
    return parse_singly(raws, at.tolist(), [0] * len(raws), _NO_FILE, limits)


def _rows_of_shapes(columns: dict[str, pa.Array], wanted: npt.NDArray[np.bool_]) -> Iterator[tuple[TypeShape, Ints]]:
    """The wanted rows of each shape, ascending."""
    if "type" not in columns or columns["type"].type != pa.string():
        return
    found = pc.fill_null(pc.index_in(columns["type"], value_set=_TYPE_NAMES), -1).to_numpy(zero_copy_only=False)
    number = np.where(wanted, found, -1).astype(np.int16)  # two bytes are sorted in one pass
    order = np.argsort(number, kind="stable")
    first, *borders = np.searchsorted(number[order], np.arange(len(_SHAPES) + 1)).tolist()
    for shape, stop in zip(_SHAPES, borders, strict=True):
        if first < stop:
            yield shape, order[first:stop]
        first = stop


def _mostly_as_it_is(columns: dict[str, pa.Array], codes: npt.NDArray[np.int32], limits: ParseLimits) -> ParsedBlock:
    """A batch of good rows but for a few. No good row has a value that its type does not have, so the columns are those of the events."""
    rows, odd = len(codes), np.flatnonzero(codes == _NOT_GOOD)
    slow = _singly(columns, odd, limits)
    beside = {"type_code": pa.array(codes), **_without_line(rows)}
    values = [
        beside[field.name]
        if field.name in beside
        else columns[field.name]
        if field.name in columns and columns[field.name].type == field.type
        else pa.nulls(rows, field.type)
        for field in EVENT_SCHEMA
    ]
    events = pa.RecordBatch.from_arrays(values, schema=EVENT_SCHEMA)
    if len(odd):
        events = _replaced(events, odd, slow)
    return ParsedBlock(events, reject_batch(slow.rejected), rows)


def _replaced(events: pa.RecordBatch, odd: Ints, slow: SlowRows) -> pa.RecordBatch:
    """The rows `odd` left out; where one is an event, that one in its place."""
    columns = event_table(slow.events)
    filled = _without_line(columns.num_rows)
    single = [filled[name] if name in filled else columns[name].combine_chunks() for name in EVENT_SCHEMA.names]
    # Mostly each odd row is an event, with the values that it has as a row: a copy of all columns would cost as much as their check.
    values = [
        column if column.take(odd).equals(replacement) else _with(column, odd, slow.event_at, replacement)
        for column, replacement in zip(events.columns, single, strict=True)
    ]
    return pa.RecordBatch.from_arrays(values, schema=EVENT_SCHEMA)


def _with(column: pa.Array, odd: Ints, kept: Sequence[int], replacement: pa.Array) -> pa.Array:
    """The column without the rows `odd`; those `kept` of them replaced, one by one."""
    single_at = {place: number for number, place in enumerate(kept)}
    pieces, first = [], 0
    for place in odd.tolist():
        pieces.append(column.slice(first, place - first))
        if place in single_at:
            pieces.append(replacement.slice(single_at[place], 1))
        first = place + 1
    return pa.concat_arrays([*pieces, column.slice(first)])


def _without_line(rows: int) -> dict[str, pa.Array]:
    return {"source_file": pa.repeat(pa.scalar(_NO_FILE), rows), "source_line": pa.array(np.zeros(rows, dtype=np.int64))}


def json_line(record: dict[str, Any]) -> bytes:
    """The line of the log that `record` stands for, fields that are None left out; text that is not UTF-8 (as bytes) as it came."""
    members = [_json_text(name) + b":" + _json_value(value) for name, value in record.items() if value is not None]
    return b"{" + b",".join(members) + b"}"


def _readable(column: pa.Array) -> pa.Array:
    """The column as int64, string or boolean where nothing is lost by it; else as it is: parse_line will report what is wrong with it.

    Text that is not UTF-8 becomes binary.
    """
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_signed_integer(column.type) or column.type in (pa.uint8(), pa.uint16(), pa.uint32()):
        return column.cast(pa.int64())
    if pa.types.is_large_string(column.type) or pa.types.is_string_view(column.type):
        column = column.cast(pa.string())
    if column.type == pa.string():
        try:
            column.validate(full=True)
        except pa.ArrowInvalid:
            return column.cast(pa.binary())
    return column


def _has_columns(shape: TypeShape, columns: dict[str, pa.Array]) -> bool:
    """Whether the table can hold the shape: each of its columns has the contract's type, or is missing without being required."""
    for field in shape.schema:
        if field.name not in columns:
            if field.name in shape.required:
                return False
        elif columns[field.name].type not in (field.type, pa.null()):
            return False
    return True


def _short_rows(columns: dict[str, pa.Array], rows: int, limits: ParseLimits) -> npt.NDArray[np.bool_]:
    """Rows whose texts are surely within every limit, also when the row is written as a line."""
    most = min((limits.max_line_bytes - _BYTES_BESIDE_TEXT) // _BYTES_PER_BYTE, limits.max_text_bytes)
    lengths = [pc.binary_length(column) for column in columns.values() if column.type == pa.string()]
    if sum(pc.max(length).as_py() or 0 for length in lengths) <= most:  # of the longest texts, which mostly are of different rows
        return np.ones(rows, dtype=np.bool_)
    together = np.zeros(rows, dtype=np.int64)
    for length in lengths:
        together += pc.fill_null(length, 0).to_numpy(zero_copy_only=False)
    return together <= most


def _good_rows(shape: TypeShape, columns: dict[str, pa.Array], at: Ints, keys: Ints) -> tuple[pa.Table, npt.NDArray[np.bool_]]:
    """The provably good ones among the rows `at`, as a table with the shape's columns, and which of `at` they are."""
    place = pa.array(at)
    arrays = [
        columns[field.name].take(place).cast(field.type) if field.name in columns else pa.nulls(len(at), field.type)
        for field in shape.schema
    ]
    table = pa.table(arrays, schema=shape.schema)
    good = ~faulty_rows(shape, table, keys)
    if not good.all():
        table = table.filter(pa.array(good))
    code = pa.repeat(pa.scalar(shape.code, pa.int32()), table.num_rows)
    return table.append_column("type_code", code), good


def _records(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    """Rows as dicts; a repeated column name cannot be, and map columns come as dicts."""
    values = {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        items = column.to_pylist()
        values[name] = [_Pairs(item) if item is not None else None for item in items] if pa.types.is_map(column.type) else items
    return [{name: items[row] for name, items in values.items()} for row in range(batch.num_rows)]


class _Pairs(list[tuple[Any, Any]]):
    """Entries of a map, which may repeat a key."""


def _json_value(value: Any) -> bytes:
    if isinstance(value, _Pairs):
        return b"{" + b",".join(_json_text(key) + b":" + _json_value(item) for key, item in value) + b"}"
    if isinstance(value, dict):
        return json_line(value)
    if isinstance(value, list):
        return b"[" + b",".join(map(_json_value, value)) + b"]"
    if isinstance(value, (str, bytes)):
        return _json_text(value)
    if isinstance(value, float) and not math.isfinite(value):
        # NaN has no JSON; as text it is a wrong type in a field of the contract, and legible in an unknown one.
        return _json_text(str(value))
    if isinstance(value, decimal.Decimal):
        return str(value).encode()
    if isinstance(value, (datetime.date, datetime.datetime, datetime.time, datetime.timedelta)):
        return _json_text(str(value))
    return json.dumps(value).encode()


def _json_text(text: str | bytes) -> bytes:
    if isinstance(text, str):
        return json.dumps(text, ensure_ascii=False).encode()
    try:
        return json.dumps(text.decode("utf-8"), ensure_ascii=False).encode()
    except UnicodeDecodeError:
        # The line is rejected for these bytes, so they need not be escaped.
        return b'"' + text + b'"'
