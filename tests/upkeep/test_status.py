"""`status`: what a person at three in the morning reads, and what a scheduler reads."""

import json
import re
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from upkeep_log import LOST, first_epoch, second_epoch

from console.command_line import main
from jobs.status import run_words, text_lines
from pipeline.query.newest_room import NewestRoom
from pipeline.query.room import ReadingRoom
from pipeline.upkeep.status import problems, status
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.lock_file import STALE_AFTER, Driver, LockEntry, is_gone
from schemas.render.ddl import delta_path

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
HERE = "here"
DRIVER = Driver("run-1", HERE, 100, "boot:1")
PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "json.md").read_text(encoding="utf-8")
KEYS = PAGE.partition("## status\n")[2].partition("\n## ")[0]


def asked(spark: SparkSession, warehouse: Warehouse) -> dict[str, Any]:
    """By the reading room; Spark says the same."""
    by_room, by_spark = (status(look, NOON, HERE, lambda _: True, 1 << 20) for look in (ReadingRoom(warehouse), NewestRoom(warehouse)))
    assert by_room == by_spark
    return by_room


def test_a_stopped_warehouse_tells_how_far_it_got_and_what_is_missing(spark: SparkSession, made: Warehouse) -> None:
    found = asked(spark, made)
    one, two = first_epoch(), second_epoch()
    events = len(one) + len(two)
    assert (found["problems"], found["writer"], found["stop_requested"], found["missing_tables"]) == ([], {"state": "nobody"}, False, [])
    assert found["events"] == {
        "lines_in": events + 1, "bronze": events, "quarantined": 1, "replayed": 0, "rows_in": events, "applied": events, "duplicates": 0,
        "late": 0, "tombstones": 0, "held": 0, "lost": len(LOST), "tombstones_written": 0, "ingest_balanced": True, "lanes_balanced": True,
        "lanes_behind": 0,
    }  # fmt: skip
    gaps = found["gaps"]
    assert (gaps["lost_ranges"], gaps["lost_events"], gaps["clock_steps"]) == (1, len(LOST), 0)
    assert (found["late"], found["quarantine"], found["foreign_versions"]) == ({}, {"not_json": 1}, [])
    newest = max(event["ts"] for event in two) / 1e6
    times = found["event_time"]
    assert times["newest"] == times["newest_read"] == datetime.fromtimestamp(newest, UTC)
    assert times["newest_age_s"] == pytest.approx(NOON.timestamp() - newest)
    assert times["lanes_behind_s"] == 0
    ingest, lanes = found["queries"]["ingest"], found["queries"]["lanes"]
    assert (ingest["last_batch"]["batch_id"], ingest["planned"], ingest["committed"], ingest["refused"]) == (3, 3, 3, None)
    assert (ingest["last_batch"]["read_to"], lanes["refused"]) == ([{"logOffset": 3}], None)
    run = found["run"]
    assert (run["mode"], run["outcome"], run["unrecorded"], run["error"]) == ("drain", "done", 0, None)
    assert run["run_id"] == lanes["last_batch"]["run_id"]
    assert lanes["last_progress"]["batch_id"] == lanes["last_batch"]["batch_id"] == run["micro_batches"] - 4 - 1
    assert ingest["last_progress"]["add_batch_ms"] > 0
    bronze = found["tables"]["dispatch_events"]
    assert (bronze["rows"], bronze["files"], bronze["small_files"], bronze["version"]) == (events, 4, 4, 4)
    data = [path for path in Path(made.table("dispatch_events").removeprefix("file:")).rglob("*.parquet") if "_delta_log" not in path.parts]
    assert bronze["bytes"] == sum(path.stat().st_size for path in data)
    assert found["tables"]["quota_evictions"]["rows"] == 0


def test_unfit_checkpoints_and_dead_drivers_come_first(copied: Callable[[], Warehouse]) -> None:
    warehouse = copied()
    root = Path(warehouse.root.removeprefix("file:"))
    shutil.rmtree(root / "_checkpoints" / "lanes")
    (root / "_driver_lock").write_text(LockEntry(DRIVER, NOON - timedelta(hours=2), NOON - timedelta(seconds=3)).to_json())
    (root / "_stop").touch()
    found = status(ReadingRoom(warehouse), NOON, HERE, lambda _: False, 1 << 20)
    assert (found["writer"]["state"], found["writer"]["pid"], found["stop_requested"]) == ("gone", 100, True)
    unfit, dead = found["problems"]
    assert "lanes: micro-batch" in unfit
    assert f"rebuild lanes --warehouse {warehouse.root}" in unfit
    assert "host here, pid 100" in dead
    lines = list(text_lines(found))
    assert [line.split()[0] for line in lines[1:5]] == ["PROBLEM", "PROBLEM", "writer", "last"]
    assert "gone: host here, pid 100, since 2026-11-22T10:00:00+00:00, run run-1, heartbeat 3 s ago, asked to stop" in lines[3]
    assert (root / "_driver_lock").exists(), "a look takes no lock away"


def test_a_version_that_somebody_else_wrote_is_a_problem(spark: SparkSession, copied: Callable[[], Warehouse]) -> None:
    warehouse = copied()
    DeltaTable(warehouse.table("names")).delete("level = 'topic'")
    somebody = spark.newSession()
    somebody.sql(f"OPTIMIZE {delta_path(warehouse.table('quota_checks'))}")
    somebody.sql(f"DELETE FROM {delta_path(warehouse.table('quota_checks'))} WHERE true")
    found = asked(spark, warehouse)
    # A table of one file is not OPTIMIZEd: whether there are more depends on how many micro-batches there were.
    theirs_are = {(one["table"], one["operation"]) for one in found["foreign_versions"]}
    assert theirs_are - {("quota_checks", "OPTIMIZE")} == {("quota_checks", "DELETE"), ("names", "DELETE")}
    assert all(abs(one["at"] - datetime.now(UTC)) < timedelta(minutes=10) for one in found["foreign_versions"])
    assert "PROBLEM    table quota_checks: somebody else wrote version " in "\n".join(text_lines(found))


def test_the_json_document_has_the_keys_that_are_promised(made: Warehouse, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["status", "--warehouse", made.root, "--format", "json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    promised = set(re.findall(r"^\| `([a-z_.<>]+)` \|", KEYS, re.MULTILINE))
    assert paths(printed) <= promised
    only_with_a_driver = {f"writer.{key}" for key in ("run_id", "host", "pid", "started_at", "heartbeat_at")}
    assert {key for key in promised if not key.startswith("late.")} - paths(printed) <= only_with_a_driver


def paths(document: dict[str, Any], *, top: bool = True) -> set[str]:
    """Keys of the document down to its values; names that are data (tables, queries, reasons) as in the page."""
    found = set[str]()
    for key, value in document.items():
        if key in ("queries", "tables"):
            found |= {f"{key}.<name>.{path}" for part in value.values() for path in paths(part, top=False)}
        elif top and key in ("late", "quarantine"):
            found |= {f"{key}.<reason>" for _ in value}
        elif isinstance(value, dict):
            found |= {f"{key}.{path}" for path in paths(value, top=False)}
        else:
            found.add(key)
    return found


def test_where_no_warehouse_is_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", "--warehouse", str(tmp_path / "none")]) == 2
    assert "there is no warehouse at" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


RUN: dict[str, Any] = {
    "run_id": "run-1", "mode": "live", "started_at": NOON - timedelta(hours=2), "ended_at": None, "outcome": None, "error": None,
    "micro_batches": None, "unrecorded": None, "code_version": "0.1.0", "code_fingerprint": "c1", "settings_fingerprint": "s1",
}  # fmt: skip
ENDED = {"ended_at": NOON - timedelta(minutes=1), "micro_batches": 1440}


@pytest.mark.parametrize(
    ("run", "writer", "words"),
    [
        ({}, {"state": "running", "run_id": "run-1"}, "run-1: running; live, started 2 h ago; version 0.1.0, code c1, settings s1"),
        ({}, {"state": "gone", "run_id": "run-1"}, "run-1: was killed; live, started 2 h ago"),
        ({}, {"state": "nobody"}, "run-1: was killed"),
        ({**ENDED, "outcome": "stopped"}, {"state": "nobody"}, "run-1: stopped 1 min ago; live, started 2 h ago, 1,440 micro-batches; "),
        ({**ENDED, "outcome": "failed", "error": "disk full"}, {"state": "nobody"}, "run-1: failed 1 min ago: disk full; live"),
    ],
)
def test_the_last_run_is_told_in_a_line(run: dict[str, Any], writer: dict[str, Any], words: str) -> None:
    assert run_words({**RUN, **run}, writer, NOON).startswith(words)


FOREIGN = {"table": "names", "version": 3, "operation": "DELETE", "at": NOON}
HEALTHY: dict[str, Any] = {
    "queries": {"ingest": {"refused": None}, "lanes": {"refused": None}},
    "events": {"ingest_balanced": True, "lanes_balanced": True, "lanes_behind": 0},
    "quarantine": {"bad_json": 1},
    "writer": {"state": "nobody"},
    "missing_tables": [],
    "foreign_versions": [],
}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, []),
        ({"writer": {"state": "running"}, "events": {**HEALTHY["events"], "lanes_behind": 5}}, []),
        ({"events": {**HEALTHY["events"], "lanes_behind": 5}}, ["nobody writes, and lanes have 5 rows"]),
        ({"events": {**HEALTHY["events"], "lanes_balanced": False}}, ["books do not balance"]),
        ({"quarantine": {"seq_taken": 7}}, ["see quarantine, reason seq_taken, and log_health"]),
        ({"missing_tables": ["quota_checks"]}, ["tables are missing: quota_checks"]),
        ({"writer": {"state": "unreadable"}}, ["lock file cannot be read"]),
        (
            {"foreign_versions": [{**FOREIGN, "version": 9}, {**FOREIGN, "version": 4}, {**FOREIGN, "table": "quota_checks"}]},
            ["names: somebody else wrote version 9 (DELETE, 2026-11-22T12:00:00+00:00) and 1 before it", "quota_checks: somebody else"],
        ),
    ],
)
def test_what_is_a_problem(change: dict[str, Any], words: list[str]) -> None:
    found = problems({**HEALTHY, **change})
    assert len(found) == len(words)
    assert all(word in problem for word, problem in zip(words, found, strict=True))


def test_a_driver_is_given_up_as_its_successor_would() -> None:
    entry = LockEntry(DRIVER, NOON, NOON)
    assert not is_gone(entry, NOON + STALE_AFTER, "elsewhere", lambda _: False), "nobody can ask another host's processes"
    assert is_gone(entry, NOON, HERE, lambda _: False)
