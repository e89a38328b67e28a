"""Of the macros that stand for Spark's functions a connection has those that were called, and what these call."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import duckdb
import pytest

from pipeline.query.closed_duckdb import ClosedDuckDB

MADE = "SELECT DISTINCT function_name FROM duckdb_functions() WHERE starts_with(function_name, 'spark_')"


def made(closed: ClosedDuckDB) -> set[str]:
    return {name for (name,) in closed.connection.execute(MADE).fetchall()}


def test_a_statement_brings_those_that_it_calls_and_no_other(tmp_path: Path) -> None:
    closed = ClosedDuckDB([str(tmp_path)], None)
    assert made(closed) == set()
    statement = "SELECT SPARK_ARRAY_UNION([1, 2], [2, 3]), 'spark_hour(' AS text"
    for _ in range(2):
        closed.learn_macros(statement)
    assert made(closed) == {"spark_array_union", "spark_array_distinct", "spark_hour"}
    assert closed.connection.execute(statement).fetchone() == ([1, 2, 3], "spark_hour(")


def test_a_name_that_is_no_macro_is_left_alone(tmp_path: Path) -> None:
    """Somebody may call a column so, or a function that nobody has: DuckDB says it."""
    closed = ClosedDuckDB([str(tmp_path)], None)
    closed.learn_macros("SELECT spark_no_such_function(1), spark_")
    assert made(closed) == set()


def test_a_macro_that_another_one_calls_may_be_called_beside_it(tmp_path: Path) -> None:
    closed = ClosedDuckDB([str(tmp_path)], None)
    statement = "SELECT spark_array_union([1], [2]), spark_array_distinct([1, 1]), \"SPARK_HOUR\"(TIMESTAMPTZ '2026-11-30 05:00:00+00')"
    closed.learn_macros(statement)
    assert closed.connection.execute(statement).fetchone() == ([1, 2], [1], 5)


def test_a_macro_that_was_interrupted_is_made_the_next_time(tmp_path: Path) -> None:
    closed = ClosedDuckDB([str(tmp_path)], None)
    connection = closed.connection

    def interrupted(_: str) -> None:
        raise duckdb.InterruptException("Interrupted!")

    closed.connection = cast(duckdb.DuckDBPyConnection, SimpleNamespace(execute=interrupted))
    with pytest.raises(duckdb.InterruptException):
        closed.learn_macros("SELECT spark_array_union([1], [2])")
    closed.connection = connection
    closed.learn_macros("SELECT spark_array_union([1], [2])")
    assert made(closed) == {"spark_array_union", "spark_array_distinct"}
