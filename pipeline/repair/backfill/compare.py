"""How two versions of the same rows differ: by key, column by column."""

import json
from collections.abc import Sequence
from functools import reduce
from operator import and_

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from pipeline.repair.backfill.compare_few import NOT_SHOWN, compare_few
from pipeline.repair.backfill.difference import EXAMPLES, Difference
from pipeline.repair.backfill.slices import Rows, dated, framed
from pipeline.repair.backfill.stretch import Dates
from schemas.field import Table


def compare(spark: SparkSession, found: Rows, computed: Rows, table: Table, asked: Sequence[Dates]) -> dict[str, Difference]:
    """Differences by broker between rows that are there and rows that were computed; both are of the dates alone."""
    if isinstance(found, pa.Table) and isinstance(computed, pa.Table):
        few = compare_few(found, computed, table, asked)
        if few is not None:
            return few
    before, after = (dated(framed(spark, side, table), table) for side in (found, computed))
    beside = _side_by_side(before, after, table)
    differences = {one.broker: Difference() for one in asked}
    for row in beside.groupBy("broker", "_date", "difference").count().collect():
        differences[row["broker"]].add(row["difference"], row["count"], row["_date"])
    for broker, difference in differences.items():
        if difference.dates:
            differing = beside.where((F.col("broker") == broker) & (F.col("difference") != "equal")).limit(EXAMPLES)
            difference.examples = [json.loads(row["example"]) for row in differing.select(_example(table).alias("example")).collect()]
    return differences


def _side_by_side(found: DataFrame, computed: DataFrame, table: Table) -> DataFrame:
    """(key columns, _date, there, now, difference) of every key that either has; `there` and `now` are structs of the other columns."""
    others = [name for name in table.names if name not in table.grain]
    there = found.select(
        *(F.col(name).alias(f"_{name}") for name in table.grain), F.col("_date").alias("_there"), F.struct(*others).alias("there")
    )
    now = computed.select(*table.grain, F.col("_date").alias("_now"), F.struct(*others).alias("now"))
    same_key = reduce(and_, (F.col(f"_{name}").eqNullSafe(F.col(name)) for name in table.grain))
    # As one struct: of comparisons column by column Spark would make a plan that takes longer than the comparing.
    is_same = F.col("there").eqNullSafe(F.col("now"))
    difference = (
        F.when(F.col("_there").isNull(), "added").when(F.col("_now").isNull(), "removed").when(is_same, "equal").otherwise("changed")
    )
    return there.join(now, same_key, "full").select(
        *(F.coalesce(name, f"_{name}").alias(name) for name in table.grain),
        F.coalesce("_now", "_there").alias("_date"),
        "there",
        "now",
        difference.alias("difference"),
    )


def _example(table: Table) -> Column:
    """A row of `_side_by_side` as JSON: of both sides the columns in which they differ."""
    shown = [name for name in table.names if name not in table.grain and name not in NOT_SHOWN]
    sides = [F.struct(*(_if_different(side, name) for name in shown)).alias(side) for side in ("there", "now")]
    return F.to_json(F.struct("difference", F.struct(*table.grain).alias("key"), *sides))


def _if_different(side: str, name: str) -> Column:
    """The column of one side, null (and so left out of JSON) where both sides have the same."""
    return F.when(~F.col(f"there.{name}").eqNullSafe(F.col(f"now.{name}")), F.col(f"{side}.{name}")).alias(name)
