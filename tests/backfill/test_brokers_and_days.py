"""Several brokers, several days: one batch, a stream cut anywhere with what came late, and one backfill per day give the same rows."""

import random
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from backfill_run import broken_invariants, computed, run_backfill_command
from capture_events import capture_events, write_events
from day_logs import DAY_US, around_midnight, moved
from delta.tables import DeltaTable
from job_run import run_job, tables_in
from pyspark.sql import SparkSession

from pipeline.repair.backfill.slices import SWAPPED_TABLES
from pipeline.warehouse.layout import Warehouse

pytestmark = [
    pytest.mark.captures,
    pytest.mark.slow(reason="nine runs of the job, five backfills; test_refold folds several brokers' days by default"),
]

#: Broker, capture, and how many days later it happened: days overlap, one broker is a day behind the others.
BROKERS = (("broker-1:8080", "l_holes_redelivery_seek", 0), ("broker-2:8080", "i_age_quota_precise", 0), ("broker-3:8080", "t_restart", 1))
DAYS = 3
Log = dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def log(captures: Path) -> Log:
    """Events by broker, midnight in the midst of each; on one midnight all of them, as if moved together."""
    logs = {}
    first_day = None
    for broker, name, later in BROKERS:
        events = around_midnight(capture_events(captures / name))
        first_day = events[0]["ts"] // DAY_US if first_day is None else first_day
        shift = (first_day + later - events[0]["ts"] // DAY_US) * DAY_US
        logs[broker] = [{**event, "broker": broker} for event in moved(events, shift)]
    return logs


@pytest.fixture(scope="module")
def whole(spark: SparkSession, log: Log, tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """One batch. Later tests may damage and repair it."""
    folder = tmp_path_factory.mktemp("whole")
    write_events([event for events in log.values() for event in events], folder / "events" / "1.jsonl")
    warehouse = Warehouse(f"file:{folder / 'warehouse'}")
    run_job(folder / "events", warehouse)
    return warehouse


@pytest.mark.parametrize("seed", [1, 2])
def test_a_stream_cut_anywhere_with_late_events_and_a_backfill_gives_what_one_batch_gives(
    spark: SparkSession, log: Log, whole: Warehouse, tmp_path: Path, warehouse: Warehouse, seed: int
) -> None:
    rng = random.Random(seed)
    late: list[dict[str, Any]] = []
    files: list[list[dict[str, Any]]] = [[] for _ in range(6)]
    for events in log.values():
        missing = {id(event) for event in rng.sample(events[1:-1], 25)}
        late += [event for event in events if id(event) in missing]
        borders = sorted(rng.sample(range(1, len(events)), len(files) - 1))
        for file, start, stop in zip(files, [0, *borders], [*borders, len(events)], strict=True):
            file += [event for event in events[start:stop] if id(event) not in missing]
    for number, file in enumerate(files):
        write_events(file, tmp_path / "events" / f"{number}.jsonl")
        if number in (2, 4):
            run_job(tmp_path / "events", warehouse, drain=False, ingest__max_files_per_batch="1")
    run_job(tmp_path / "events", warehouse)
    write_events(late, tmp_path / "events" / "late.jsonl")
    run_job(tmp_path / "events", warehouse, drain=False)
    run_backfill_command(spark, warehouse, "--pending")
    assert computed(tables_in(spark, warehouse)) == computed(tables_in(spark, whole)), f"repeat: pytest {__file__} -k {seed}"
    assert broken_invariants(warehouse) == {}
    assert run_backfill_command(spark, warehouse, "--pending")["done"] == []


def test_one_backfill_per_day_gives_everything_again(spark: SparkSession, log: Log, whole: Warehouse) -> None:
    """All rows are deleted but the snapshots from which days begin."""
    sound = tables_in(spark, whole)
    for table in SWAPPED_TABLES:
        if table.name != "lane_snapshots":
            DeltaTable.forPath(spark, whole.table(table.name)).delete()
    first = date(1970, 1, 1) + timedelta(days=log[BROKERS[0][0]][0]["ts"] // DAY_US)
    for number in random.Random(5).sample(range(DAYS), DAYS):
        on = str(first + timedelta(days=number))
        done = run_backfill_command(spark, whole, "--from", on)["done"]
        assert {one["broker"] for one in done} == {broker for broker, _, later in BROKERS if number in (later, later + 1)}
    assert tables_in(spark, whole) == sound
