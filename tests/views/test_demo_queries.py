"""What the demo prints: lines to try, each of which runs as printed, and who is behind while the broker runs."""

import shlex
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from jobs.cli import main
from jobs.demo import where_to_look
from jobs.demo_live import Show
from pipeline.reading.room import ReadingRoom
from pipeline.verdict import worst
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


def shown(warehouse: Warehouse) -> list[str]:
    broker: Any = None
    return Show(broker, broker, Path(), warehouse).shown().splitlines()


def test_while_the_broker_runs_the_worst_comes_first_with_what_holds_it(small_warehouse: Warehouse) -> None:
    as_of, _, head, ruler, *rows = shown(small_warehouse)
    assert as_of.endswith("in the tables, as of 03:03:00")
    assert head.split()[:3] == ["subscription", "topic", "status"]
    assert set(ruler) == {"-", " "}
    assert rows[0].split()[:6] == ["billing", "shop/eu/orders", "held", "back", "topic", "msg"]


def test_topics_of_pulsar_itself_are_not_shown(small_warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    found = worst.worst(ReadingRoom(small_warehouse))
    own = {**found[0], "topic": "persistent://shop/eu/__change_events"}
    monkeypatch.setattr(worst, "worst", lambda _: [own, *found])
    assert [line for line in shown(small_warehouse) if "__change_events" in line] == []


def test_before_the_first_window_is_over_nothing_is_shown(tmp_path: Path) -> None:
    (line,) = shown(Warehouse(f"file:{tmp_path / 'nothing'}"))
    assert line.endswith("nothing yet, the first window is still open")
