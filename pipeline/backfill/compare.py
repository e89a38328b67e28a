"""How two versions of the same rows differ: by key, column by column."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pipeline.backfill.slices import dated
from pipeline.backfill.stretch import Dates
from schemas.field import Table

EXAMPLES = 3
#: Too long to be shown.
NOT_SHOWN = ("state",)


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


def compare(found: DataFrame, computed: DataFrame, table: Table, asked: Iterable[Dates]) -> dict[str, Difference]:
    """Differences by broker between rows that are there and rows that were computed; both are of the dates alone."""
    beside = _side_by_side(dated(found, table), dated(computed, table), table).persist()
    try:
        differences = {one.broker: Difference() for one in asked}
        for row in beside.groupBy("broker", "_date", "difference").count().collect():
            _add(differences[row["broker"]], row["difference"], row["count"], row["_date"])
        for broker, difference in differences.items():
            if difference.dates:
                differing = beside.where((F.col("broker") == broker) & (F.col("difference") != "equal"))
                difference.examples = [json.loads(row["example"]) for row in differing.select("example").limit(EXAMPLES).collect()]
        return differences
    finally:
        beside.unpersist()


def _side_by_side(found: DataFrame, computed: DataFrame, table: Table) -> DataFrame:
    """(broker, _date, difference, example) of every key that either has."""
    there, now = found.alias("there"), computed.alias("now")
    same_key = None
    for name in table.grain:
        equal = F.col(f"there.{name}").eqNullSafe(F.col(f"now.{name}"))
        same_key = equal if same_key is None else same_key & equal
    others = [name for name in table.names if name not in table.grain]
    is_same = F.lit(True)
    for name in others:
        is_same = is_same & F.col(f"there.{name}").eqNullSafe(F.col(f"now.{name}"))
    is_new, is_gone = F.col("there._date").isNull(), F.col("now._date").isNull()
    difference = F.when(is_new, "added").when(is_gone, "removed").when(is_same, "equal").otherwise("changed")
    key = [F.coalesce(F.col(f"now.{name}"), F.col(f"there.{name}")).alias(name) for name in table.grain]
    shown = [name for name in others if name not in NOT_SHOWN]
    example = F.struct(
        difference.alias("difference"),
        F.struct(*key).alias("key"),
        F.when(~is_new, F.struct(*_where_different(shown, "there"))).alias("there"),
        F.when(~is_gone, F.struct(*_where_different(shown, "now"))).alias("now"),
    )
    return there.join(now, same_key, "full").select(
        F.coalesce(F.col("now.broker"), F.col("there.broker")).alias("broker"),
        F.coalesce(F.col("now._date"), F.col("there._date")).alias("_date"),
        difference.alias("difference"),
        F.when(difference != "equal", F.to_json(example)).alias("example"),
    )


def _where_different(names: Iterable[str], side: str) -> list[Any]:
    """The columns of one side, null (and so left out of JSON) where both sides have the same."""
    return [F.when(~F.col(f"there.{n}").eqNullSafe(F.col(f"now.{n}")), F.col(f"{side}.{n}")).alias(n) for n in names]


def _add(difference: Difference, kind: str, rows: int, on: date) -> None:
    difference.found += rows if kind != "added" else 0
    difference.computed += rows if kind != "removed" else 0
    if kind != "equal":
        difference.dates.add(on)
        setattr(difference, kind, getattr(difference, kind) + rows)
