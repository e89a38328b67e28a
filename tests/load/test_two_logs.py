"""Two logs that claim one broker and epoch: one of them counts, the events of the other are in quarantine, and whoever asks is told."""

import json
from pathlib import Path

import pytest
from capture_events import write_events
from loaded import contents, load_into, tables_unlike
from upkeep_log import capture

from console.command_line import main
from pipeline.warehouse.layout import Warehouse

#: Events that both logs have.
SAME = 5


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two logs of the same places: the first events are the same, the rest is of a clock that is 3 µs later."""
    events = capture("p1_batches")
    folder = tmp_path_factory.mktemp("two_logs") / "events"
    write_events(events, folder / "a.jsonl.gz")
    write_events([event if place < SAME else {**event, "ts": event["ts"] + 3} for place, event in enumerate(events)], folder / "b.jsonl.gz")
    return folder


@pytest.fixture(scope="module")
def warehouse(log: Path, tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    return load_into(log, tmp_path_factory.mktemp("two_logs") / "w")


def taken(warehouse: Warehouse) -> list[dict[str, object]]:
    """Rows of quarantine."""
    return contents(warehouse, "quarantine").to_pylist()


def test_one_log_counts_as_a_whole_and_the_other_is_in_quarantine(log: Path, warehouse: Warehouse, tmp_path: Path) -> None:
    rows = taken(warehouse)
    events = capture("p1_batches")
    assert {row["reason"] for row in rows} == {"seq_taken"}
    assert sorted(row["seq"] for row in rows) == [event["seq"] for event in events[SAME:]]
    (later,) = {Path(str(row["source_file"])) for row in rows}
    first = {"a.jsonl.gz": "b.jsonl.gz", "b.jsonl.gz": "a.jsonl.gz"}[later.name]
    assert all(f"seq {row['seq']} is taken by another event (" in row["detail"] and first in row["detail"] for row in rows)
    alone = load_into(log / first, tmp_path / "alone")
    of_ingest = {"dispatch_events", "quarantine", "ingest_files", "batch_manifest"}
    assert set(tables_unlike(warehouse, alone)) <= of_ingest, "no table mixes the two"


def test_raw_is_the_event(warehouse: Warehouse) -> None:
    pairs = list(zip(_by_seq(warehouse), capture("p1_batches")[SAME:], strict=True))
    (shift_us,) = {int(str(row["ts"])) - event["ts"] for row, event in pairs}
    for row, event in pairs:
        assert json.loads(str(row["raw"])) == {**event, "ts": event["ts"] + shift_us}


def _by_seq(warehouse: Warehouse) -> list[dict[str, object]]:
    return sorted(taken(warehouse), key=lambda row: int(str(row["seq"])))


def test_health_status_and_the_books_show_it(warehouse: Warehouse, capsys: pytest.CaptureFixture[str]) -> None:
    place = ["--warehouse", warehouse.root.removeprefix("file:")]
    count = len(capture("p1_batches"))
    columns = "rows_in, events, duplicates, quarantined, seq_taken, awaited, warehouse_balanced"
    for cut in ([], ["--consistent"]):
        assert main(["sql", f"SELECT {columns} FROM log_health", *cut, "--format", "json", *place]) == 0
        assert list(json.loads(capsys.readouterr().out).values()) == [2 * count, count, SAME, 0, count - SAME, 0, True]
    assert main(["status", *place]) == 0
    said = capsys.readouterr().out
    assert f"PROBLEM    two logs claim one broker and epoch: {count - SAME:,} events have a seq that another event has taken" in said
    assert f"quarantine seq_taken {count - SAME:,}" in said
    assert f"{2 * count:,} lines = {2 * count:,} events + 0 quarantined" in said


def test_the_same_log_twice_is_only_repeats(tmp_path: Path) -> None:
    events = capture("p1_batches")
    for name in ("a", "b"):
        write_events(events, tmp_path / "events" / f"{name}.jsonl.gz")
    twice = load_into(tmp_path / "events", tmp_path / "w")
    assert taken(twice) == []
    sums = contents(twice, "batch_manifest").to_pylist()
    assert [row["duplicates_sum"] for row in sums if row["query"] == "lanes"] == [len(events)]
