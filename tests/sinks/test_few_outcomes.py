"""Outcomes become the same table rows in the driver and in Spark."""

import random
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pipeline.sinks.few_outcomes import FewOutcomes
from pyspark.sql import DataFrame, SparkSession

from pipeline.lanes.operator import OUTPUT_TYPE
from pipeline.lanes.outcome_frames import packet_frame
from pipeline.lanes.outcome_packets import outcome_schema, wide_rows
from pipeline.machines.outcome import Rows
from pipeline.sinks.outcomes import lacks_text, table_rows, with_text
from schemas.field import Table
from schemas.outcomes import LANE_REPORT, NULL, OUTCOME_COLUMNS, PAYLOAD, texts_of
from schemas.render.arrow import arrow_schema
from schemas.render.spark import struct
from schemas.tables import LANE_TABLES, TABLES_BY_NAME
from schemas.tables.bookkeeping import NAMES

TEXTS = {
    11: ("broker", "b:1", None, None),
    -12: ("broker", "b:2", None, None),
    21: ("topic", None, "persistent://t/n/ä", None),
    31: ("subscription", None, "persistent://t/n/ä", "s"),
}
NAMED = pa.table(
    {name: list(column) for name, column in zip(NAMES.names, zip(*((i, *text) for i, text in TEXTS.items()), strict=True), strict=True)},
    arrow_schema(NAMES.fields),
)


def value(table: str, name: str, chance: random.Random) -> int:
    """Any value that a column of an outcome may have."""
    field = next((field for field in TABLES_BY_NAME[table].fields if field.name == name), None)
    if field is not None and field.nullable and chance.random() < 0.3:
        return NULL
    texts = texts_of(table, name)
    if field is not None and texts and field.type == "string":
        return chance.randrange(len(texts))
    if field is None or field.type in ("boolean", "int", "date"):
        return chance.randrange(2)
    return chance.choice([0, 1, 2**53 + 1, 1_700_000_000_123_456] if field.type == "long" else [0, 1_700_000_000_123_456])


def entities(table: Table) -> list[tuple[int, int]]:
    """Ids of topic and subscription that a row of the table may have."""
    needed = {field.name for field in table.fields if not field.nullable}
    return [(21, 31)] if "subscription" in needed else [(21, 0), (21, 31)] if "topic" in needed else [(0, 0), (21, 0), (21, 31)]


def random_outcomes(seed: int) -> dict[str, pa.Table]:
    """Some rows of every table, as they come out of packets."""
    chance = random.Random(seed)
    outcomes = {}
    for table in LANE_TABLES:
        rows = []
        for _ in range(chance.randrange(1, 6)):
            named = {name: value(table.name, name, chance) for name in OUTCOME_COLUMNS[table.name]}
            topic_id, sub_id = chance.choice(entities(table))
            state = chance.choice([b"", b"\x00state"])
            rows.append({**named, "topic_id": topic_id, "sub_id": sub_id, "broker_id": chance.choice([11, -12]), PAYLOAD: state})
        outcomes[table.name] = pa.Table.from_pylist(rows, schema=outcome_schema(table.name))
    return outcomes


def as_a_lane_gives(table: str, row: dict[str, Any]) -> tuple[int, list[Rows]]:
    """The broker's id, and the row as an outcome."""
    return row["broker_id"], [Rows(table, {name: row[name] for name in OUTCOME_COLUMNS[table]}, 1, row.get(PAYLOAD, b""))]


def as_spark_has_them(spark: SparkSession, outcomes: dict[str, pa.Table]) -> DataFrame:
    """The same rows, each as wide as the widest."""
    packets = [packet_frame(*as_a_lane_gives(table, row)) for table, rows in outcomes.items() for row in rows.to_pylist()]
    wide = pa.Table.from_batches(wide_rows(iter(pa.Table.from_pandas(pd.concat(packets), preserve_index=False).to_batches())))
    return spark.createDataFrame(wide, OUTPUT_TYPE)


@pytest.mark.parametrize("seed", range(3))
def test_a_table_has_the_rows_that_spark_makes(spark: SparkSession, seed: int) -> None:
    outcomes = random_outcomes(seed)
    few = FewOutcomes(outcomes, NAMED)
    assert not few.lacks_text()
    names = spark.createDataFrame(NAMED.to_pylist(), struct(NAMES.fields))
    resolved = with_text(as_spark_has_them(spark, outcomes), names).localCheckpoint()
    for table in LANE_TABLES:
        schema = arrow_schema(table.fields)
        assert few.rows_of(table).schema == schema
        wanted = table_rows(resolved, table).toArrow().cast(schema)  # the join gives them in any order
        assert sorted(map(str, few.rows_of(table).to_pylist())) == sorted(map(str, wanted.to_pylist())), table.name
        assert few.rows_of(table).num_rows > 0


@pytest.mark.parametrize("lost", sorted(TEXTS))
def test_an_id_without_a_name_is_seen_as_spark_sees_it(spark: SparkSession, lost: int) -> None:
    outcomes = random_outcomes(7)
    known = NAMED.filter(pa.array([number != lost for number in NAMED["id"].to_pylist()]))
    assert FewOutcomes(outcomes, known).lacks_text()
    names = spark.createDataFrame(known.to_pylist(), struct(NAMES.fields))
    assert with_text(as_spark_has_them(spark, outcomes), names).where(lacks_text()).count() > 0


def test_every_table_of_lanes_is_tried() -> None:
    assert {*OUTCOME_COLUMNS} - {LANE_REPORT} == {table.name for table in LANE_TABLES}
