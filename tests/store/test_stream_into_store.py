"""The streaming job on an object store, from the command line: every table as on this machine, row for row."""

import os
import subprocess
import time
from pathlib import Path

import pytest
from aws_keys import keys_of_the_time, profile
from capture_events import write_events
from loaded import load_into, tables_unlike
from s3_server import S3
from upkeep_log import capture

from driver.session import LITTLE_DATA
from pipeline.store.files import files_at
from pipeline.store.table_log import opened
from pipeline.warehouse.layout import Warehouse

ROOT = Path(__file__).parents[2]


def stream(events: Path, place: str, *more: str) -> subprocess.CompletedProcess[str]:
    """`stream --once` in a process of its own: only what the environment says when it starts reaches Java."""
    line = [
        str(ROOT / "spark-submit.sh"), "stream", "--once", *more, "--events", str(events), "--warehouse", place, "--master", "local[2]",
        "--conf", "spark.sql.shuffle.partitions=2", *(word for key, value in LITTLE_DATA.items() for word in ("--conf", f"{key}={value}")),
    ]  # fmt: skip
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR")}
    return subprocess.run(line, env=kept, capture_output=True, text=True, check=False, timeout=600)


def test_a_log_with_a_busy_store_and_a_key_that_changes(
    s3: S3, lake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark_in_a_child: None
) -> None:
    """Every fiftieth request is refused. A program of a profile gives keys that the store takes for twelve seconds: in Java, in the driver,
    in the tasks. Runs that go on from a checkpoint in a store: tests/store_server.
    """
    write_events(capture("p1_batches"), tmp_path / "events" / "a.jsonl.gz")
    requests = iter(range(10_000_000))
    s3.fault = lambda method, key: "busy" if next(requests) % 50 == 4 else None
    s3.is_good = lambda key: key is not None and time.time() - int(key.removeprefix("KEY")) < 12
    with monkeypatch.context() as of_the_run:
        profile(of_the_run, tmp_path, keys_of_the_time(tmp_path, life_s=10))
        done = stream(tmp_path / "events", lake, "--drain")
    assert done.returncode == 0, done.stderr
    assert "0 lost" in done.stdout
    made_s = sorted(int(str(key).removeprefix("KEY")) for key in s3.keys)
    assert made_s[-1] - made_s[0] > 12
    s3.is_good = lambda key: key == "test"
    s3.fault = lambda method, key: None
    assert tables_unlike(load_into(tmp_path / "events", tmp_path / "here"), Warehouse(lake)) == []
    assert files_at(lake).read(f"{lake}/_driver_lock") is None
    assert opened(f"{lake}/names").metadata().configuration["delta.checkpointInterval"] == "10"
