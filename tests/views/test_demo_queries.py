"""The lines that the demo prints to try: each runs as printed, over the small warehouse."""

import shlex
from typing import Any

import pytest
from pyspark.sql import SparkSession

from jobs.cli import main
from jobs.demo import where_to_look
from pipeline.warehouse.layout import Warehouse

LINES = 6


def printed_lines(warehouse: Warehouse) -> list[list[str]]:
    """The command lines as a shell splits them."""
    said = where_to_look(warehouse.root, warehouse.root)
    return [shlex.split(line) for line in said.splitlines() if "spark-submit.sh" in line]


def test_six_lines_are_printed_and_a_shell_understands_a_warehouse_with_a_space() -> None:
    lines = printed_lines(Warehouse("/data/my warehouse"))
    assert [(line[:2], line[3:]) for line in lines] == [(["./spark-submit.sh", "sql"], ["--warehouse", "/data/my warehouse"])] * LINES


@pytest.mark.parametrize("number", range(LINES))
def test_a_line_that_the_demo_prints_runs_and_shows_rows(
    spark: SparkSession, filled_warehouse: Warehouse, number: int, capsys: pytest.CaptureFixture[Any]
) -> None:
    _script, *arguments = printed_lines(filled_warehouse)[number]
    assert main(arguments) == 0
    head, ruler, *rows = capsys.readouterr().out.splitlines()
    assert head.split()[0] in ("topic", "level", "conn")
    assert set(ruler) == {"-", " "}
    assert rows
