"""Bronze becomes the same lane rows in Spark's SQL and by columns, however odd the events are."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bronze_events import ODD_TEXTS, random_events
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from pipeline.lanes.project import bronze_lane_rows
from pipeline.packets.bronze_columns import ANSWERS, VALUES, columns_read, lane_columns_of
from schemas.events import EVENT_TYPES
from schemas.lane_columns import COLUMN, COMPUTED_FIELDS, LANE_COLUMNS, QUESTIONS, SLOT_FIELDS
from schemas.spark_numbers import integer

SEEDS = range(3)


@pytest.mark.parametrize("seed", SEEDS)
def test_columns_give_the_rows_that_spark_computes(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    events = random_events(seed, 3_000)
    assert {*events["type"].to_pylist()} == {kind.name for kind in EVENT_TYPES}
    pq.write_table(events, tmp_path / "events.parquet")
    by_spark = bronze_lane_rows(spark.read.parquet(str(tmp_path))).select(*LANE_COLUMNS).toArrow()
    wanted = np.array([by_spark[name].to_numpy() for name in LANE_COLUMNS])
    found = lane_columns_of(events.select(columns_read()).combine_chunks().to_batches()[0])
    different = [(LANE_COLUMNS[column], events.slice(row, 1).to_pylist()[0]) for column, row in np.argwhere(found != wanted)[:3]]
    assert different == [], f"repeat: pytest {__file__} -k {seed}"
    assert np.array_equal(found, wanted)
    assert all(np.any(found[COLUMN[f"s{slot}"]]) for slot in range(max(map(len, SLOT_FIELDS.values()))))


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
