"""How two versions of the same rows differ: by key, column by column."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import reduce
from operator import and_
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pipeline.backfill.slices import dated
from pipeline.backfill.stretch import Dates
from pipeline.sinks.few_outcomes import FEW_ROWS
from schemas.field import Table
from schemas.outcomes import PAYLOAD
from schemas.render.arrow import arrow_schema

EXAMPLES = 3
#: Too long to be shown.
NOT_SHOWN = (PAYLOAD,)


@dataclass
class Difference:
    """How the rows of one broker's dates in one table differ, and of which dates they do."""

    found: int = 0
    computed: int = 0
    added: int = 0
    removed: int = 0
    changed: int = 0
    dates: set[date] = field(default_factory=set)
    examples: list[dict[str, Any]] = field(default_factory=list)


def compare(found: DataFrame, computed: DataFrame, table: Table, asked: Sequence[Dates]) -> dict[str, Difference]:
    """Differences by broker between rows that are there and rows that were computed; both are of the dates alone."""
    same = _equal(found, computed, table, asked)
    if same is not None:
        return same
    beside = _side_by_side(dated(found, table), dated(computed, table), table)
    differences = {one.broker: Difference() for one in asked}
    for row in beside.groupBy("broker", "_date", "difference").count().collect():
        _add(differences[row["broker"]], row["difference"], row["count"], row["_date"])
    for broker, difference in differences.items():
        if difference.dates:
            differing = beside.where((F.col("broker") == broker) & (F.col("difference") != "equal")).limit(EXAMPLES)
            difference.examples = [json.loads(row["example"]) for row in differing.select(_example(table).alias("example")).collect()]
    return differences


def _equal(found: DataFrame, computed: DataFrame, table: Table, asked: Sequence[Dates]) -> dict[str, Difference] | None:
    """The result where both are few and the same rows, as most are: the driver sees so sooner than a join. Else None."""
    if PAYLOAD in table.names:
        return None  # a few states may have more bytes than the driver takes
    there = found.limit(FEW_ROWS + 1).toArrow()
    if there.num_rows > FEW_ROWS:
        return None
    now = computed.limit(FEW_ROWS + 1).toArrow()
    schema, order = arrow_schema(table.fields), [(name, "ascending") for name in table.grain]
    if not there.select(schema.names).cast(schema).sort_by(order).equals(now.select(schema.names).cast(schema).sort_by(order)):
        return None
    rows = Counter(there["broker"].to_pylist())
    return {one.broker: Difference(found=rows[one.broker], computed=rows[one.broker]) for one in asked}


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


def _add(difference: Difference, kind: str, rows: int, on: date) -> None:
    difference.found += rows if kind != "added" else 0
    difference.computed += rows if kind != "removed" else 0
    if kind != "equal":
        difference.dates.add(on)
        setattr(difference, kind, getattr(difference, kind) + rows)
