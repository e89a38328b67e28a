"""A finished log through `load`: what the pure lane says, whatever its files are, and however many processes share them."""

import gzip
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from capture_events import write_events
from job_run import tables_in
from lane_tables import tables_of
from loaded import contents, load_into, tables_unlike
from upkeep_log import capture

from driver.loading import load_log
from pipeline.ingest import bronze_files
from pipeline.query.room import ReadingRoom
from pipeline.settings import load_settings
from pipeline.sources import listed_files
from pipeline.warehouse.data_files import NewFile
from pipeline.warehouse.layout import Warehouse

NAMES = ("f_limit_above_need", "p1_batches")
#: An answer that does not come in this time will not come.
PATIENCE_S = 30


@pytest.fixture(scope="module")
def logs() -> dict[str, list[dict[str, Any]]]:
    """Two captures, each under the name of a broker of its own."""
    return {name: [event | {"broker": f"{name}:8080"} for event in capture(name)] for name in NAMES}


@pytest.fixture(scope="module")
def loaded(logs: dict[str, list[dict[str, Any]]], tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """Both in one warehouse, from a file each."""
    folder = tmp_path_factory.mktemp("loaded")
    for name, events in logs.items():
        write_events(events, folder / "events" / f"{name}.jsonl.gz")
    return load_into(folder / "events", folder / "warehouse")


@pytest.mark.parametrize("name", NAMES)
def test_tables_are_those_of_the_pure_lane(logs: dict[str, list[dict[str, Any]]], loaded: Warehouse, name: str) -> None:
    assert tables_in(None, loaded, broker=f"{name}:8080") == tables_of(logs[name])


def test_every_event_is_in_bronze_as_it_was(logs: dict[str, list[dict[str, Any]]], loaded: Warehouse) -> None:
    bronze = contents(loaded, "dispatch_events")
    for name, events in logs.items():
        rows = [row for row in bronze.to_pylist() if row["broker"] == f"{name}:8080"]
        assert [row["seq"] for row in rows] == [event["seq"] for event in events]
        for row, event in zip(rows, events, strict=True):
            assert {key: dict(row[key]) if key == "settings" else row[key] for key in event} == event


def as_parquet(events: list[dict[str, Any]], path: Path) -> None:
    """One file of several row groups."""
    rows = [{key: value for key, value in event.items() if key != "settings"} for event in events]
    maps = [list(event["settings"].items()) if "settings" in event else None for event in events]
    settings = pa.array(maps, pa.map_(pa.string(), pa.string()))
    path.parent.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(rows, _schema(rows)).append_column("settings", settings), path, row_group_size=100)


def _schema(rows: list[dict[str, Any]]) -> pa.Schema:
    kinds = {str: pa.string(), int: pa.int64(), bool: pa.bool_()}
    return pa.schema([(name, kinds[type(value)]) for name, value in {key: value for row in rows for key, value in row.items()}.items()])


@pytest.mark.parametrize("files", ["many", "reversed", "parquet"])
def test_how_the_log_lies_in_files_does_not_matter(
    logs: dict[str, list[dict[str, Any]]], loaded: Warehouse, tmp_path: Path, files: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listed_files, "_SMALL_TASK_BYTES", 1_000)  # so that both processes get some
    events = [event for name in NAMES for event in logs[name]]
    if files == "parquet":
        as_parquet(events, tmp_path / "events" / "a.parquet")
    else:
        pieces = [events[start : start + 150] for start in range(0, len(events), 150)]
        for number, piece in enumerate(pieces if files == "many" else reversed(pieces)):
            write_events(piece, tmp_path / "events" / f"{number:03}.jsonl.gz")
    other = load_into(tmp_path / "events", tmp_path / "warehouse")
    of_files = {"ingest_files", "dispatch_events"}
    assert set(tables_unlike(loaded, other)) <= of_files
    placed = ["source_file", "source_line"]
    assert contents(other, "dispatch_events").drop_columns(placed).equals(contents(loaded, "dispatch_events").drop_columns(placed))
    assert other_files(tmp_path / "warehouse") > 1, "both processes wrote"


def other_files(warehouse: Path) -> int:
    """Files of bronze."""
    return len({path.name for path in (warehouse / "dispatch_events").rglob("*.parquet")})


def test_whoever_waits_hears_how_far_it_is(logs: dict[str, list[dict[str, Any]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hoped = f"reading: {len(logs['p1_batches']):,} events, 0 of 1 shares of files"
    is_said = tmp_path / "is_said"
    close = bronze_files.BronzeFiles.close

    def closed_late(files: bronze_files.BronzeFiles) -> Iterator[NewFile]:
        deadline = time.monotonic() + PATIENCE_S
        while not is_said.exists() and time.monotonic() < deadline:  # a file: this is another process
            time.sleep(0.01)
        return close(files)

    def hear(line: str) -> None:
        if line == hoped:
            is_said.touch()

    monkeypatch.setattr(bronze_files.BronzeFiles, "close", closed_late)
    monkeypatch.setattr("pipeline.load.load.REPORTED_EVERY_S", 0.01)
    write_events(logs["p1_batches"], tmp_path / "events" / "a.jsonl.gz")
    load_log(str(tmp_path / "events"), f"file:{tmp_path / 'warehouse'}", load_settings(None, [], {}), 2, hear)
    assert is_said.exists()


def test_settings_are_those_of_the_job(logs: dict[str, list[dict[str, Any]]], tmp_path: Path) -> None:
    write_events(logs["p1_batches"], tmp_path / "events" / "a.jsonl.gz")
    warehouse = load_into(tmp_path / "events", tmp_path / "warehouse", lanes__window_ms="10000")
    starts = contents(warehouse, "limiter_windows")
    assert {int((row["window_end"] - row["window_start"]).total_seconds()) for row in starts.to_pylist()} == {10}


def test_views_and_a_consistent_cut_see_a_whole_micro_batch_of_each_query(loaded: Warehouse) -> None:
    (balance,) = ReadingRoom(loaded, consistent=True).rows("SELECT * FROM log_balance")
    assert balance["ingest_balanced"]
    assert balance["lanes_balanced"]
    assert balance["lanes_behind"] == 0
    assert balance["applied"] == balance["lines_in"] > 0
    (run,) = ReadingRoom(loaded).rows("SELECT command, mode, outcome FROM runs")
    assert run == {"command": "load", "mode": "drain", "outcome": "done"}
    assert ReadingRoom(loaded, consistent=True).rows("SELECT * FROM subscription_throttle") != []


def test_damage_is_quarantined_and_takes_its_places(logs: dict[str, list[dict[str, Any]]], tmp_path: Path) -> None:
    lines = [json.dumps(event) for event in logs["p1_batches"]]
    lines[200] = json.dumps(logs["p1_batches"][200] | {"topic": 7})
    lines[300] = lines[300][:40]
    (tmp_path / "events").mkdir()
    (tmp_path / "events" / "a.jsonl").write_text("\n".join([*lines, json.dumps(logs["f_limit_above_need"][0] | {"topic": 7})]))
    (tmp_path / "events" / "b.jsonl.gz").write_bytes(gzip.compress(b"\n" * 1000)[:-10])
    warehouse = load_into(tmp_path / "events", tmp_path / "warehouse")
    reasons = sorted(row["reason"] for row in contents(warehouse, "quarantine").to_pylist())
    assert reasons == ["not_json", "truncated_file", "wrong_type", "wrong_type"]
    (balance,) = ReadingRoom(warehouse).rows("SELECT * FROM log_balance")
    assert (balance["tombstones"], balance["lost"], balance["lanes_behind"]) == (2, 1, 0)
    faults = {Path(row["source_file"]).name: row["fault"] for row in contents(warehouse, "ingest_files").to_pylist()}
    assert faults == {"a.jsonl": "none", "b.jsonl.gz": "truncated"}
    brokers = {row["broker"] for row in contents(warehouse, "names").to_pylist() if row["level"] == "broker"}
    assert brokers == {"p1_batches:8080", "f_limit_above_need:8080"}, "one of which only a rejected line is there"
