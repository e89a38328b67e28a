"""What is counted for each kind of demand: as Great Expectations' own engine counts it, and Spark, of rows with every fault."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import duckdb
import great_expectations as gx
import great_expectations.expectations as gxe
import pandas as pd
import pytest
from pyspark.sql import SparkSession

from pipeline.faults import BrokenInvariant
from pipeline.query.dialect import for_duckdb, parsed
from pipeline.upkeep.quality.expectations import expectation_of
from pipeline.upkeep.quality.measures import Measure, table_measures
from pipeline.upkeep.quality.rules import Rule, rules_of
from pipeline.upkeep.quality.validation import Validation, judged
from schemas.field import Field, Table

SCORES = Table(
    "scores",
    "",
    grain=("place", "day"),
    fields=(
        Field("id", "long", "", nullable=True),
        Field("place", "string", "", nullable=True),
        Field("day", "long", "", check="day > 0"),
        Field("size", "string", "", nullable=True, check="size IN ('s', 'm')"),
        Field("share", "double", "", nullable=True, check="share >= 0 AND share <= 1"),
    ),
)
NAN = math.nan
ROWS: list[tuple[Any, ...]] = [
    (1, "a", 1, "s", 0.0),
    (2, "a", 2, "m", 1.0),
    (2, "a", 2, "l", 1.5),
    (2, None, 3, None, -0.5),
    (None, None, 3, "", 0.5),
    (None, "b", 0, "s", None),
    (3, "c", -4, "S", 0.5),
    (4, "d", None, "m", 0.5),
]
#: Each demand, and how many of ROWS break it.
DEMANDS = [
    (Rule("not_null", ("day",)), 1),
    (Rule("not_null", ("id",)), 2),
    (Rule("range", ("day",), least=0, above=True), 2),
    (Rule("range", ("day",), least=0), 1),
    (Rule("range", ("day",), greatest=2), 2),
    (Rule("range", ("share",), least=0, greatest=1), 2),
    (Rule("set", ("size",), values=("s", "m")), 3),
    (Rule("key", ("place", "day")), 4),
    (Rule("key", ("id",)), 3),
]


class Rows:
    """Whoever answers queries over a table: here DuckDB, over a frame."""

    def __init__(self, rows: Sequence[tuple[Any, ...]]) -> None:
        self._duckdb = duckdb.connect()
        self._duckdb.execute("CREATE TABLE scores (id BIGINT, place VARCHAR, day BIGINT, size VARCHAR, share DOUBLE)")
        if rows:
            self._duckdb.executemany("INSERT INTO scores VALUES (?, ?, ?, ?, ?)", rows)

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """Rows of a query in Spark's dialect."""
        (statement,) = parsed(sql)
        found = self._duckdb.execute(for_duckdb(statement))
        names = [column[0] for column in found.description]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def measure_of(rule: Rule, rows: Sequence[tuple[Any, ...]] = ROWS) -> Measure:
    (measure,) = table_measures(Rows(rows), SCORES, [rule])
    return measure


@pytest.mark.parametrize(("rule", "broken"), DEMANDS, ids=lambda value: value.words if isinstance(value, Rule) else "")
def test_a_row_that_breaks_a_demand_is_counted_and_shown(rule: Rule, broken: int) -> None:
    measure = measure_of(rule)
    assert measure.broken == broken
    assert set(measure.examples[0]) == {*SCORES.grain, *rule.columns}
    assert not judged(expectation_of(rule), measure).success


@pytest.mark.parametrize("rule", [rule for rule, _ in DEMANDS], ids=lambda rule: rule.words)
def test_great_expectations_own_engine_counts_the_same(rule: Rule) -> None:
    frame = pd.DataFrame(ROWS, columns=list(SCORES.names)).astype({"id": "Int64", "day": "Int64"})
    source = gx.get_context(mode="ephemeral").data_sources.add_pandas("frames")
    batch = source.add_dataframe_asset("scores").add_batch_definition_whole_dataframe("whole").get_batch({"dataframe": frame})
    theirs = batch.validate(expectation_of(rule), result_format="BASIC")
    ours = judged(expectation_of(rule), measure_of(rule))
    assert ours.success == theirs.success
    for figure in ("element_count", "unexpected_count", "unexpected_percent"):
        if rule.columns != ("id",) or rule.kind != "key":  # of a key of one column nulls are left out, and not shown as missing
            assert ours.result[figure] == theirs.result[figure], figure


@pytest.mark.parametrize("rule", [rule for rule, _ in DEMANDS if rule.kind == "key"], ids=lambda rule: rule.words)
def test_a_key_that_is_read_in_parts_has_the_same_counts(rule: Rule) -> None:
    rows = [(id if id is None else id % 40, f"{id}", 1, "s", 0.5) for id in (*range(50), None, None)]
    whole = measure_of(rule, rows)
    asked: list[str] = []

    class Counting(Rows):
        def rows(self, sql: str) -> list[dict[str, Any]]:
            asked.append(sql)
            return super().rows(sql)

    (parted,) = table_measures(Counting(rows), SCORES, [rule], keys_at_once=9)
    assert (parted.rows, parted.broken) == (whole.rows, whole.broken)
    assert len(parted.examples) == len(whole.examples)
    assert sum("times" in sql for sql in asked) == 6


def test_spark_counts_the_same(spark: SparkSession) -> None:
    session = spark.newSession()
    session.createDataFrame(ROWS, "id long, place string, day long, size string, share double").createOrReplaceTempView("scores")

    class BySpark:
        """The same by Spark."""

        def rows(self, sql: str) -> list[dict[str, Any]]:
            """Rows of a query."""
            return [row.asDict() for row in session.sql(sql).collect()]

    measures = table_measures(BySpark(), SCORES, [rule for rule, _ in DEMANDS])
    assert [measure.broken for measure in measures] == [broken for _, broken in DEMANDS]
    in_parts = table_measures(BySpark(), SCORES, [rule for rule, _ in DEMANDS], keys_at_once=2)
    assert [measure.broken for measure in in_parts] == [broken for _, broken in DEMANDS]


@pytest.mark.parametrize("rule", [rule for rule, _ in DEMANDS], ids=lambda rule: rule.words)
def test_no_rows_break_nothing(rule: Rule) -> None:
    measure = measure_of(rule, [])
    assert measure == Measure(rows=0, nulls=0, broken=0)
    assert judged(expectation_of(rule), measure).success


def test_a_sound_table_breaks_nothing() -> None:
    found = table_measures(Rows(ROWS[:2]), SCORES, rules_of(SCORES))
    assert [(measure.rows, measure.broken, measure.examples) for measure in found] == [(2, 0, ())] * len(rules_of(SCORES))


def test_not_a_number_is_out_of_range() -> None:
    assert measure_of(Rule("range", ("share",), least=0, greatest=1), [(1, "a", 1, "s", NAN)]).broken == 1


def test_the_ends_of_a_long_are_told_apart() -> None:
    """As fractions they would be one number."""
    most = 2**63 - 2
    assert measure_of(Rule("range", ("id",), greatest=most), [(most, "a", 1, "s", 0.0), (most + 1, "b", 1, "s", 0.0)]).broken == 1


def test_rows_beyond_the_condition_of_a_key_may_share_it() -> None:
    rows = [(1, None, 1, "s", 0.0), (1, None, 1, "s", 0.0), (0, "a", 0, "s", 0.0), (0, "a", 0, "s", 0.0), (1, "b", 1, "s", 0.0)]
    assert measure_of(Rule("key", ("place", "day"), where="id > 0 OR size = 'x'"), rows).broken == 2


def test_what_an_expectation_asks_for_and_nobody_counted_is_loud_and_no_finding() -> None:
    expectation = gxe.ExpectColumnMaxToBeBetween(column="day", max_value=3)
    with pytest.raises(BrokenInvariant, match=r"expect_column_max_to_be_between asks for column\.max, which nobody counted"):
        Validation("r", datetime(2026, 11, 21, tzinfo=UTC)).validate("rows", [expectation], [Measure(1, 0, 0)])
