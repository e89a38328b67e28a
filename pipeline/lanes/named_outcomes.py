"""Outcome rows to table rows: ids back to text, numbers back to the declared types."""

from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from schemas.field import Field, Table
from schemas.outcomes import FILLED_LATER, NULL, PAYLOAD, TEXT_OF_IDS, texts_of
from schemas.render.arrow import arrow_schema

#: Rows with their text that exist at a time.
SLICE_ROWS = 65_536
_Numbers = npt.NDArray[np.int64]
_IDS = ("topic_id", "sub_id")


class NamedOutcomes:
    """Outcomes by their table (`broker_id`, OUTCOME_COLUMNS, a payload) and the names (columns of `names`) of the ids in them."""

    def __init__(self, outcomes: Mapping[str, pa.Table], names: pa.Table) -> None:
        ids = _numbers(names, "id")
        self._order = np.argsort(ids)
        self._ids = ids[self._order]
        self._names = {column: names[column].combine_chunks() for column in names.column_names}
        self._outcomes = outcomes

    def lacks_text(self) -> bool:
        """Whether a row has an id that `names` does not know."""
        return any(
            bool(np.any((ids != 0) & (self._places(ids) < 0)))
            for rows in self._outcomes.values()
            for ids in (_numbers(rows, "broker_id"), _entity_ids(rows))
        )

    def rows_of(self, table: Table) -> pa.Table:
        """The rows of the table, typed as declared. An id without a name gives null."""
        return self.slices_of(table).read_all()

    def slices_of(self, table: Table) -> pa.RecordBatchReader:
        """The same rows, SLICE_ROWS at a time."""
        return pa.RecordBatchReader.from_batches(arrow_schema(table.fields), self._slices(table))

    def _slices(self, table: Table) -> Iterator[pa.RecordBatch]:
        whole, schema = self._outcomes[table.name], arrow_schema(table.fields)
        for start in range(0, whole.num_rows, SLICE_ROWS):
            rows = whole.slice(start, SLICE_ROWS)
            text = {"broker": self._places(_numbers(rows, "broker_id")), "entity": self._places(_entity_ids(rows))}
            yield pa.RecordBatch.from_arrays([self._value(table.name, rows, text, field) for field in table.fields], schema=schema)

    def _places(self, ids: _Numbers) -> _Numbers:
        """The row of `names` of each id, −1 where there is none."""
        places = np.searchsorted(self._ids, ids)
        known = places < len(self._ids)
        known[known] = self._ids[places[known]] == ids[known]
        found = np.full(len(ids), -1, dtype=np.int64)
        found[known] = self._order[places[known]]
        return found

    def _text(self, column: str, places: _Numbers) -> pa.Array:
        chosen = pa.array(places, mask=places < 0)
        return self._names[column].take(chosen)

    def _value(self, table: str, rows: pa.Table, text: dict[str, _Numbers], field: Field) -> pa.Array:
        if field.name in TEXT_OF_IDS:
            column = TEXT_OF_IDS[field.name]
            return self._text(column, text["broker" if column == "broker" else "entity"])
        if field.name == "completeness":
            return _share(*(_numbers(rows, name) for name in ("window_applied", "window_missing")))
        if field.name == PAYLOAD:
            return rows[PAYLOAD].combine_chunks()
        if field.name in FILLED_LATER:
            return pa.nulls(rows.num_rows, arrow_schema([field]).field(0).type)
        numbers = _numbers(rows, field.name)
        absent = numbers == NULL if field.nullable else np.zeros(len(numbers), dtype=bool)
        enumerated = texts_of(table, field.name)
        if enumerated and field.type == "string":
            return pa.array(enumerated, pa.string()).take(pa.array(numbers, mask=absent))
        return _TYPED[field.type](np.where(absent, 0, numbers), absent)


_TYPED: dict[str, Callable[[_Numbers, npt.NDArray[np.bool_]], pa.Array]] = {
    "timestamp": lambda numbers, absent: pa.array(numbers, pa.int64(), mask=absent).cast(pa.timestamp("us", tz="UTC")),
    "date": lambda numbers, absent: pa.array(numbers, pa.int64(), mask=absent).cast(pa.int32()).cast(pa.date32()),
    "boolean": lambda numbers, absent: pa.array(numbers == 1, mask=absent),
    "int": lambda numbers, absent: pa.array(numbers, pa.int64(), mask=absent).cast(pa.int32()),
    "long": lambda numbers, absent: pa.array(numbers, pa.int64(), mask=absent),
}


def ids_in(outcomes: Iterable[pa.Table]) -> pa.Array:
    """Every id (int64) of a row of these outcomes, once."""
    columns = [chunk for rows in outcomes for column in ("broker_id", *_IDS) for chunk in rows[column].chunks]
    return pc.unique(pa.chunked_array(columns, pa.int64()))


def _numbers(rows: pa.Table, column: str) -> _Numbers:
    return rows[column].to_numpy()


def _entity_ids(rows: pa.Table) -> _Numbers:
    """The id whose text a row shows: that of the subscription, else of the topic, 0 for a row of the whole broker."""
    topics, subscriptions = (_numbers(rows, column) for column in _IDS)
    return np.where(subscriptions != 0, subscriptions, topics)


def _share(applied: _Numbers, missing: _Numbers) -> pa.Array:
    both = applied + missing
    return pa.array(np.where(both == 0, 1.0, applied / np.where(both == 0, 1, both)))
