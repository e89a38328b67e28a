"""Functions and operators of Spark's SQL in the room: each gives what Spark gives, or one plain sentence.

tests/fixtures/spark_functions.json has statements by function (the examples of Spark's own documentation) and, under "", of people's kinds;
beside each the rows of Spark 4.2. A case whose rows are wrong there is found by the slow test, which asks Spark.
"""

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from query.sql_values import rows_text

from pipeline.faults import BadConfig
from pipeline.query.missing_functions import ANSWERED, ONLY_SPARK
from pipeline.query.refusal import refusal
from pipeline.query.room import ReadingRoom
from pipeline.warehouse.layout import Warehouse

CASES: dict[str, list[tuple[str, list[list[str]]]]] = json.loads(
    (Path(__file__).parents[1] / "fixtures" / "spark_functions.json").read_text(encoding="utf-8")
)
#: What is another value each time, or in another order.
LOOSE = {
    "curdate() > DATE '2020-01-01'", "current_date() = current_date", "current_timestamp() > TIMESTAMP '2020-01-01 00:00:00'",
    "localtimestamp() > TIMESTAMP_NTZ '2020-01-01 00:00:00'", "now() > TIMESTAMP '2020-01-01 00:00:00'", "rand() < 1", "random() < 1",
    "length(uuid()) = 36", "unix_timestamp() > 1700000000", "uniform(1, 3) BETWEEN 1 AND 3", "size(collect_set(1)) = 1",
}  # fmt: skip


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> ReadingRoom:
    """Without a table: no statement here names one."""
    return ReadingRoom(Warehouse(f"file:{tmp_path_factory.mktemp('room')}"))


def reason(room: ReadingRoom, sql: str) -> str:
    with pytest.raises(BadConfig) as refused:
        room.ask(sql)
    return str(refused.value)


@pytest.mark.parametrize("function", CASES)
def test_the_room_gives_what_spark_gives(room: ReadingRoom, function: str) -> None:
    for sql, rows in CASES[function]:
        assert (sql, rows_text(room.ask(sql).rows)) == (sql, rows)


@pytest.mark.parametrize("condition", sorted(LOOSE))
def test_what_differs_each_time_is_of_its_kind(room: ReadingRoom, condition: str) -> None:
    assert room.ask(f"SELECT {condition}").rows == [(True,)]


def test_every_function_that_the_room_answers_has_a_case() -> None:
    texts = " ".join([*LOOSE, *(sql for cases in CASES.values() for sql, _ in cases)]).lower()
    assert [name for name in sorted(ANSWERED) if name not in CASES and name not in texts] == []
    assert set() == ANSWERED & ONLY_SPARK


@pytest.mark.parametrize("function", sorted(ONLY_SPARK))
def test_what_only_spark_has_is_named(room: ReadingRoom, function: str) -> None:
    sentence = f"SQL: the function {function} is not answered here; Spark has it (docs/guide/cookbook.md)"
    assert reason(room, f"SELECT {function}('a', 1)") == sentence
    assert reason(room, f"SELECT 1 WHERE {function.upper()} (2) > 3") == sentence


@pytest.mark.parametrize(
    ("sql", "sentence"),
    [
        ("SELECT dayofweke(now())", "there is no function dayofweke; did you mean dayofweek?"),
        ("SELECT zzzzzzzzz(1)", "there is no function zzzzzzzzz"),
        ("SELECT ascii(2)", "ascii does not take these arguments (INTEGER) here; maybe Spark has it (docs/guide/cookbook.md)"),
        (
            "SELECT size(map('a', 1))",
            "a function does not take these arguments (MAP(VARCHAR, INTEGER)) here; maybe Spark has it (docs/guide/cookbook.md)",
        ),
        ("SELECT nvl2(1)", "an argument is missing: Line 1, Col: 14"),
        ("SELECT topik FROM (SELECT 1 AS topic)", "there is no column topik; did you mean topic?"),
        ("SELECT '1' + 1", "+ does not take these arguments (STRING, INTEGER) here; maybe Spark has it (docs/guide/cookbook.md)"),
        (
            "SELECT date_format(now(), 'yyyy-Q')",
            "date_format: the pattern yyyy-Q has Q, which is not answered here; Spark has it (docs/guide/cookbook.md)",
        ),
        ("SELECT date_trunc('fortnight', now())", "date_trunc: there is no unit fortnight; those are day, dd, hour"),
        (
            "SELECT split('a1b', '[0-9]', 2)",
            "split with a pattern and a limit is not answered here; Spark has it (docs/guide/cookbook.md)",
        ),
        (
            "SELECT array_sort(array(1), (a, b) -> 1)",
            "array_sort with a function is not answered here; Spark has it (docs/guide/cookbook.md)",
        ),
        (
            "SELECT get_json_object('{}', '$.*')",
            "get_json_object with * or [' in its path is not answered here; Spark has it (docs/guide/cookbook.md)",
        ),
        ("SELECT current_user", "current_user is not answered here; Spark has it (docs/guide/cookbook.md)"),
    ],
)
def test_a_refusal_is_one_sentence_without_candidates(room: ReadingRoom, sql: str, sentence: str) -> None:
    found = reason(room, sql)
    assert found.startswith(f"SQL: {sentence}")
    assert "\n" not in found
    assert "andidate" not in found
    assert "spark_" not in found


def test_a_name_before_a_parenthesis_that_is_no_function_is_not_refused(room: ReadingRoom) -> None:
    assert room.ask("WITH hash(a) AS (SELECT 1) SELECT window.b FROM (VALUES (2)) AS window(b), hash").rows == [(2,)]


def test_columns_are_called_as_spark_calls_the_function(room: ReadingRoom) -> None:
    assert room.ask("SELECT dayofweek(DATE '2026-03-08')").columns == ["dayofweek(CAST('2026-03-08' AS DATE))"]


def test_an_error_that_is_none_of_the_known_kinds_keeps_its_first_line() -> None:
    assert refusal("Binder Error: Something else\nLINE 1: SELECT spark_x") == "Something else"


@pytest.mark.slow(reason="a thousand statements by Spark: four minutes; the stored rows are compared with the room by default")
def test_spark_gives_what_is_stored_and_has_no_other_functions(spark: SparkSession) -> None:
    names = {row[0] for row in spark.sql("SHOW ALL FUNCTIONS").collect()}
    # Delta's own come once a table of it was read.
    of_delta = {"table_changes", "table_changes_by_path"}
    assert {name for name in names if name.isidentifier()} - of_delta == ANSWERED | ONLY_SPARK
    for cases in CASES.values():
        for sql, rows in cases:
            found = spark.sql(sql)
            local = "timestamp_ntz" not in str(found.schema.simpleString())
            assert (sql, rows_text([tuple(row) for row in found.collect()], naive_is_local=local)) == (sql, rows)
