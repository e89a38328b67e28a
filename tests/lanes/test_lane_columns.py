"""Columns of bronze become lane rows as declared (schemas/lane_columns.py), however odd the events are."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from bronze_events import ODD_TEXTS, random_events
from lane_rows import lane_rows
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from pipeline.lanes.packets.bronze_columns import ANSWERS, VALUES, columns_read, lane_columns_of
from schemas.events import EVENT_TYPES
from schemas.lane_columns import COLUMN, COMPUTED_FIELDS, LANE_COLUMNS, QUESTIONS, SLOT_FIELDS
from schemas.spark_numbers import integer

SEEDS = range(3)
#: The ids of random events mean nothing, and `arrival` has tests of its own.
COMPARED = [COLUMN[name] for name in LANE_COLUMNS if name not in ("topic_id", "sub_id", "arrival")]


def plain(event: dict[str, Any]) -> dict[str, Any]:
    """As the log has it."""
    found = {name: value for name, value in event.items() if value is not None}
    return {**found, "settings": dict(found["settings"])} if "settings" in found else found


@pytest.mark.parametrize("seed", SEEDS)
def test_columns_give_the_rows_that_the_events_say(seed: int) -> None:
    events = random_events(seed, 3_000)
    assert {*events["type"].to_pylist()} == {kind.name for kind in EVENT_TYPES}
    wanted = lane_rows([plain(event) for event in events.to_pylist()]).T[COMPARED]
    found = lane_columns_of(events.select(columns_read()).combine_chunks().to_batches()[0])[COMPARED]
    different = [(LANE_COLUMNS[COMPARED[at]], events.slice(row, 1).to_pylist()[0]) for at, row in np.argwhere(found != wanted)[:3]]
    assert different == [], f"repeat: pytest {__file__} -k {seed}"
    assert all(np.any(found[COMPARED.index(COLUMN[f"s{slot}"])]) for slot in range(max(map(len, SLOT_FIELDS.values()))))
    assert np.all(np.any(found[COMPARED.index(COLUMN["mask"])]))


def test_ids_are_taken_over() -> None:
    events = random_events(1, 500)
    found = lane_columns_of(events.select(columns_read()).combine_chunks().to_batches()[0])
    for name in ("topic_id", "sub_id"):
        assert found[COLUMN[name]].tolist() == events[name].to_pylist()


def test_a_column_that_a_file_lacks_is_null() -> None:
    events = random_events(1, 500)
    needed = {"broker_id", "epoch", "seq", "ts", "type_code", "ingest_batch", "topic_id", "sub_id"}
    nulls = [
        column if name in needed else pa.nulls(500, column.type) for name, column in zip(events.column_names, events.columns, strict=True)
    ]
    without_values = pa.table(nulls, names=events.column_names)
    found, wanted = (lane_columns_of(rows.combine_chunks().to_batches()[0]) for rows in (events.select(sorted(needed)), without_values))
    assert np.array_equal(found, wanted)


def test_text_becomes_a_number_as_in_spark(spark: SparkSession) -> None:
    texts = spark.createDataFrame([(text,) for text in ODD_TEXTS], "text string")
    rows = texts.select("text", F.expr("try_cast(text AS bigint)"), F.expr("try_cast(text AS int)")).collect()
    assert [(integer(text), integer(text, bits=32)) for text, _, _ in rows] == [(long, small) for _, long, small in rows]
    assert len({long for _, long, _ in rows}) > 8


def test_everything_that_packages_compute_has_its_form_by_columns() -> None:
    assert {*VALUES} == {*COMPUTED_FIELDS}
    assert {*ANSWERS} == {question for questions in QUESTIONS.values() for question in questions}
