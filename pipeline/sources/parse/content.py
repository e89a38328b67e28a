"""A number for the content of an event: all that its line says. Lines of one place (broker, epoch, seq) are repeats if they have the same.

Of two contents in a billion billion two have the same number by chance: nobody who repeats a place meets that.
"""

import hashlib
import json
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from schemas.tables.bronze import PARSED_FIELDS

#: What a line says; what follows from it, and where it lay, is left out.
CONTENT_COLUMNS = tuple(field.name for field in PARSED_FIELDS if field.name not in ("type_code", "source_file", "source_line"))
Hashes = npt.NDArray[np.uint64]
#: Multipliers of splitmix64, whose last step spreads each bit of a number over all bits.
_FIRST, _SECOND, _STEP = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB), 0x9E3779B97F4A7C15


def content_hashes(events: pa.RecordBatch | pa.Table) -> Hashes:
    """A number for each event; `events` has CONTENT_COLUMNS, as EVENT_SCHEMA or dispatch_events has them."""
    total = np.zeros(events.num_rows, dtype=np.uint64)
    for position, name in enumerate(CONTENT_COLUMNS):
        column = events.column(name)
        column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        if column.null_count == len(column):
            continue
        salt = np.uint64((position + 1) * _STEP % 2**64)
        there = column.is_valid().to_numpy(zero_copy_only=False)
        total += np.where(there, _spread(_numbers(column) ^ salt), np.uint64(0))
    return total


def _numbers(column: pa.Array) -> Hashes:
    """A number for each value; anything for a null."""
    if pa.types.is_integer(column.type) or pa.types.is_boolean(column.type):
        values = pc.fill_null(column.cast(pa.int64()), 0).to_numpy(zero_copy_only=False)
        return np.ascontiguousarray(values).view(np.uint64)
    texts = (
        pa.array([None if value is None else _text(value) for value in column.to_pylist()]) if pa.types.is_nested(column.type) else column
    )
    found = texts.dictionary_encode()
    of_texts = np.array([_of_text(text) for text in found.dictionary.to_pylist()], dtype=np.uint64)
    return of_texts[pc.fill_null(found.indices, 0).to_numpy(zero_copy_only=False)]


def _text(value: Any) -> str:
    """A map (pairs, whose order says nothing) or a list as text."""
    pairs = isinstance(value, list) and all(isinstance(item, tuple) for item in value)
    return json.dumps(sorted(value) if pairs else value)


def _of_text(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def _spread(numbers: Hashes) -> Hashes:
    numbers = (numbers ^ (numbers >> np.uint64(30))) * _FIRST
    numbers = (numbers ^ (numbers >> np.uint64(27))) * _SECOND
    result: Hashes = numbers ^ (numbers >> np.uint64(31))
    return result
