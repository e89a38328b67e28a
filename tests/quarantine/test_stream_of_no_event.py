"""`stream --once` of a log of which no line is an event ends with 1 and the likely mistake, and with 0 as soon as one is."""

from pathlib import Path

import pytest
from capture_events import write_events
from pyspark.sql import SparkSession
from upkeep_log import capture

from driver.streaming import run_stream
from pipeline.settings import load_settings
from pipeline.warehouse.layout import Warehouse


def test_a_run_over_a_log_without_an_event_ends_with_1(
    spark: SparkSession, warehouse: Warehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def once() -> int:
        return run_stream(spark, str(tmp_path / "events"), warehouse.root, load_settings(None, [], {}), once=True, drain=True)

    write_events([{**event, "ts": event["ts"] // 1000} for event in capture("p1_batches")[:20]], tmp_path / "events" / "a.jsonl.gz")
    assert once() == 1
    assert "no line of the log is an event: all 20 lines were rejected (out_of_range 20); probably ts is in milliseconds" in (
        capsys.readouterr().err
    )
    assert once() == 1, "nothing new was read, and it is as it was"
    write_events(capture("p1_batches")[:20], tmp_path / "events" / "b.jsonl.gz")
    assert once() == 0
