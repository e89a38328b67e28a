"""Frequent events are read in one pass: of each type its own columns, by owner, in the order of the log, each once."""

from collections.abc import Iterator
from typing import Any, cast

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from bronze_events import random_events

from pipeline.query.room import ReadingRoom
from pipeline.query.translated import translated
from pipeline.what_if.frequent import ABSENT, COLUMNS, NO_TOKENS, TOKENS, columns_of, frequent_of, owner_of
from schemas.events import CODES

EVENTS = random_events(5, 6000)
Row = dict[str, Any]


class Table:
    """Answers from `dispatch_events`, some rows a batch."""

    def __init__(self, rows: pa.Table) -> None:
        self._duckdb = duckdb.connect()
        self._duckdb.register("dispatch_events", rows)

    def batches(self, sql: str) -> Iterator[pa.RecordBatch]:
        """As the reading room."""
        yield from self._duckdb.sql(translated(sql).text).to_arrow_reader(1024)


def found(rows: pa.Table, where: str = "true", **only: str) -> dict[str, list[tuple[int, ...]]]:
    """The events of each type as rows."""
    events = frequent_of(cast(ReadingRoom, Table(rows)), where, only)
    return {name: list(zip(*(of[column].tolist() for column in columns_of(name)), strict=True)) for name, of in events.items()}


def number(row: Row, name: str) -> int:
    if name == "cumulative":
        return int(row["ack_type"] == "cumulative")
    if name == "sought":
        return int(bool(row["reset"]))
    if name == "asked_again":
        return int(row["cause"] not in (None, "consumer_closed"))
    return row[name] if row[name] is not None else NO_TOKENS if name in TOKENS else ABSENT


def expected(rows: pa.Table) -> dict[str, list[tuple[int, ...]]]:
    by_seq = {row["seq"]: row for row in sorted(rows.to_pylist(), key=lambda row: row["seq"])}
    of_type = {name: [row for row in by_seq.values() if row["type_code"] == CODES[name]] for name in COLUMNS}
    of_type["mark_delete"] = [row for row in of_type["mark_delete"] if row["persisted"] is False]
    return {
        name: sorted((tuple(number(row, column) for column in columns_of(name)) for row in several), key=lambda one: (one[2], one[0]))
        for name, several in of_type.items()
    }


def test_each_type_has_its_rows_by_owner_and_in_order() -> None:
    want = expected(EVENTS)
    assert all(want.values())
    assert found(EVENTS) == want
    assert all(columns_of(name)[2] == owner_of(name) for name in COLUMNS)


def test_rows_that_come_twice_and_late_count_once() -> None:
    chance = np.random.default_rng(3)
    twice = pa.concat_tables([EVENTS, EVENTS.slice(100, 3000)])
    assert found(twice.take(chance.permutation(twice.num_rows))) == expected(EVENTS)


@pytest.mark.parametrize("name", ["read", "mark_delete"])
def test_a_condition_of_one_type_is_of_no_other(name: str) -> None:
    whole, some = found(EVENTS), found(EVENTS, **{name: "sub_id < 50 AND NOT persisted" if name == "mark_delete" else "sub_id < 50"})
    assert some[name] == [row for row in whole[name] if row[2] < 50 and (row[2] != ABSENT)]
    assert {other: rows for other, rows in some.items() if other != name} == {other: rows for other, rows in whole.items() if other != name}


def test_no_rows_are_no_events() -> None:
    assert not any(found(EVENTS, "false").values())
