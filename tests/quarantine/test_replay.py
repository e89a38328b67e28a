"""`quarantine replay` over a real warehouse: lines come back once, lanes see them, the books balance."""

import json
from collections import Counter
from collections.abc import Callable
from datetime import date
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from capture_events import write_events
from invariants_run import broken_invariants
from job_run import run_job
from planted_room import PlantedRoom, twice, without
from pyspark.sql import SparkSession
from quarantined_log import FILES, RUBBISH, STRICT, Damaged, listed
from upkeep_log import capture
from whose_versions import operations_without_our_mark

from console.command_line import main
from driver.locked import locked
from pipeline.faults import BadWarehouse
from pipeline.query.newest_room import NewestRoom
from pipeline.query.room import ReadingRoom
from pipeline.repair.quarantine import put_back
from pipeline.store.table_log import opened
from pipeline.upkeep.closed_dates import batch_read_for_good
from pipeline.upkeep.quality.invariants import NAMES, Invariant
from pipeline.warehouse.commit_tag import tagged
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.lock import UpkeepLock
from pipeline.warehouse.newest_cut import newest_cut

BOOKS = "every_line_is_an_event_or_quarantined"
#: Invariants that count lines and events.
COUNTING = (BOOKS, "lanes_read_every_event_once", "every_event_has_one_fate", "every_loss_is_told")
NEWEST = FILES - 1


def by_seq(warehouse: Warehouse, table: str, column: str) -> dict[int, Any]:
    return {row["seq"]: row[column] for row in listed(warehouse, table)}


def every_file(warehouse: Warehouse) -> dict[str, int]:
    root = Path(warehouse.root.removeprefix("file:"))
    return {str(path): path.stat().st_size for path in root.rglob("*") if path.is_file()}


def replay(damaged: Damaged, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    """`quarantine replay --format json`."""
    capsys.readouterr()
    assert main(["quarantine", "replay", "--warehouse", damaged.warehouse.root, "--format", "json", *words]) == 0
    return json.loads(capsys.readouterr().out.splitlines()[-1])


def _as_sql_prints_them(damaged: Damaged, capsys: pytest.CaptureFixture[str], file: Path) -> bool:
    """Whether the file's rows, but for the repaired text, are rows that the command in the docs prints."""
    capsys.readouterr()
    query = "SELECT source_file, source_line, raw_sha256, raw FROM quarantine"
    assert main(["sql", query, "--warehouse", damaged.warehouse.root, "--format", "json"]) == 0
    keys = ("source_file", "source_line", "raw_sha256")
    printed, given = capsys.readouterr().out.splitlines(), file.read_text(encoding="utf-8").splitlines()
    told = [{tuple(json.loads(line)[key] for key in keys) for line in lines} for lines in (printed, given)]
    return told[1] < told[0]


def balance(warehouse: Warehouse) -> tuple[dict[str, Any], dict[str, Any]]:
    """The rows of log_balance and of log_health."""
    room = ReadingRoom(warehouse)
    (books,), (health,) = (room.rows(f"SELECT * FROM {view}") for view in ("log_balance", "log_health"))
    return books, health


def test_a_line_that_the_parser_accepts_now_comes_back_and_lanes_make_a_late_event_of_it(
    spark: SparkSession, copied: Callable[[], Damaged], capsys: pytest.CaptureFixture[str]
) -> None:
    damaged = copied()
    warehouse, seqs = damaged.warehouse, damaged.seqs
    assert broken_invariants(warehouse, COUNTING) == {}
    assert batch_read_for_good(warehouse) == NEWEST

    # A newer parser (here: a larger limit) accepts one line as it is.
    before = every_file(warehouse)
    dry = replay(damaged, capsys, "--dry-run")
    assert every_file(warehouse) == before, "a dry run writes nothing"
    assert (dry["dry_run"], dry["replay"], dry["put_back"], dry["rejected"], dry["cut"], dry["unfinished"]) == (True, None, 1, 6, 1, 0)
    done = replay(damaged, capsys)
    same = dry.keys() - {"at", "dry_run", "replay"}
    assert {key: done[key] for key in same} == {key: dry[key] for key in same}
    assert (done["replay"], done["dates"]) == (1, [{"broker": damaged.events[0]["broker"], "event_date": "2026-11-21", "events": 1}])
    assert done["reasons"] == {"not_json": 3, "wrong_type": 3, "text_too_long": 1}
    (told,) = listed(warehouse, "quarantine_replays")
    assert ({told["seq"]}, told["reason"], told["repaired"], told["tombstone"]) == (seqs["noted"], "text_too_long", False, True)
    assert (told["rejected_batch"], told["ingest_batch"], told["event_date"]) == (2, NEWEST, date(2026, 11, 21))
    assert broken_invariants(warehouse, COUNTING) == {}, "the newest cut is of before"
    assert batch_read_for_good(warehouse) == NEWEST - 1, "nobody may delete a row that lanes have not read"
    assert balance(warehouse)[0]["lanes_behind"] == 1
    run_job(damaged.place, warehouse, drain=False)
    assert by_seq(warehouse, "late_events", "reason") == dict.fromkeys(seqs["noted"], "quarantined")
    assert batch_read_for_good(warehouse) == NEWEST


def test_repaired_lines_come_back_into_a_merged_bronze_and_every_book_balances(
    spark: SparkSession, copied: Callable[[], Damaged], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged = copied()
    warehouse, seqs, events = damaged.warehouse, damaged.seqs, len(damaged.events)
    opened(warehouse.table("dispatch_events")).optimize.compact(commit_properties=tagged())
    file = damaged.repaired(tmp_path)
    assert _as_sql_prints_them(damaged, capsys, file)
    done = replay(damaged, capsys, "--from", str(file))
    assert (done["replay"], done["put_back"], done["not_found"], done["still_rejected"]) == (1, 6, 0, [])
    done = replay(damaged, capsys)
    assert (done["replay"], done["put_back"]) == (2, 1)
    run_job(damaged.place, warehouse, drain=False)
    assert by_seq(warehouse, "late_events", "reason") == {
        **dict.fromkeys(seqs["noted"] | seqs["wrong"] | seqs["long"], "quarantined"), **dict.fromkeys(seqs["lost"], "given_up"),
    }  # fmt: skip
    assert [row["raw"] for row in listed(warehouse, "quarantine")] == [RUBBISH]
    assert Counter(row["seq"] for row in listed(warehouse, "dispatch_events")) == Counter(event["seq"] for event in damaged.events)
    assert by_seq(warehouse, "dispatch_events", "extra")[min(seqs["long"])] == json.dumps({"note": "n" * 900}, separators=(",", ":"))

    before = every_file(warehouse)
    again = replay(damaged, capsys, "--from", str(file))
    assert (again["replay"], again["put_back"], again["not_found"]) == (None, 0, 6)
    assert every_file(warehouse) == before, "a second replay does nothing"

    books, health = balance(warehouse)
    assert (books["lines_in"], books["bronze"], books["quarantined"], books["replayed"]) == (events + 1, events, 1, 7)
    assert (books["ingest_balanced"], books["lanes_balanced"], books["lanes_behind"], books["late"]) == (True, True, 0, 7)
    assert (health["awaited"], health["late"], health["quarantined"], health["lost_events"]) == (0, 7, 5, 2)
    assert health["rows_in"] == books["rows_in"]
    assert operations_without_our_mark(warehouse) == []


@pytest.mark.slow(reason="three runs of the job, rebuild lanes: a minute; by default books balance after a replay, test_rebuild rebuilds")
def test_the_next_micro_batch_takes_a_replay_into_the_cut_and_lanes_computed_anew_put_its_events_in_their_places(
    spark: SparkSession, copied: Callable[[], Damaged], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged, more = copied(), capture("f_limit_above_need")
    warehouse = damaged.warehouse
    replay(damaged, capsys, "--from", str(damaged.repaired(tmp_path)))
    replay(damaged, capsys)
    run_job(damaged.place, warehouse, drain=False)
    write_events(more, damaged.folder / "events" / "more.jsonl")
    run_job(damaged.more, warehouse)
    assert len(listed(warehouse, "dispatch_events")) == len(damaged.events) + len(more)
    assert newest_cut(NewestRoom(warehouse)).versions["quarantine_replays"] == 2
    assert broken_invariants(warehouse, NAMES) == {}
    assert main(["rebuild", "lanes", "--warehouse", warehouse.root, "--yes"]) == 0
    run_job(damaged.more, warehouse)
    (books,) = ReadingRoom(warehouse).rows("SELECT lost FROM log_balance")  # log_health has a row for each of the two epochs
    assert (listed(warehouse, "late_events"), books["lost"]) == ([], 0)
    assert broken_invariants(warehouse, COUNTING) == {}


@pytest.mark.parametrize(
    ("table", "fault"),
    [
        ("quarantine_replays", without("repaired")),
        ("quarantine_replays", twice("repaired")),
        ("dispatch_events", without("seq = 501")),
        ("quarantine", twice("true")),
    ],
)
def test_a_fault_in_what_moved_is_caught(moved: Damaged, table: str, fault: str) -> None:
    room = PlantedRoom(moved.warehouse)
    broken, rows = Invariant(BOOKS).sql, f"SELECT * FROM {table}"
    assert room.rows(broken) == []
    before = len(room.rows(rows))
    with room.planted(table, fault):
        assert len(room.rows(rows)) != before
        assert room.rows(broken) != []


class Crash(Exception):
    """Stands for a kill: nothing after it is done."""


IN_BRONZE = "in bronze, still in quarantine"
#: Where the replay dies: before which call of which function.
POINTS = {
    "nothing is recorded yet": ("_append", 1),
    "told, no event in bronze": ("write_names", 1),
    "names, no event in bronze": ("_append", 2),
    IN_BRONZE: ("_take_out", 1),
}


def tables(warehouse: Warehouse) -> dict[str, Counter[str]]:
    """What a replay writes, as multisets without what differs from run to run."""
    volatile = {"run_id", "replayed_at", "replay", "quarantined_at"}
    names = ("dispatch_events", "quarantine", "quarantine_replays", "names")
    return {
        name: Counter(json.dumps({k: v for k, v in row.items() if k not in volatile}, default=str) for row in listed(warehouse, name))
        for name in names
    }


@pytest.mark.parametrize(("point", "with_file"), [*((point, True) for point in POINTS), (IN_BRONZE, False)])
def test_a_crash_at_any_point_changes_nothing_about_the_end(
    point: str,
    with_file: bool,
    moved: Damaged,
    copied: Callable[[], Damaged],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    damaged = copied()
    words = ["--from", str(damaged.repaired(tmp_path))]
    with monkeypatch.context() as dying:
        _dies_before(dying, *POINTS[point])
        with pytest.raises(Crash):
            replay(damaged, capsys, *words)
    with pytest.raises(BadWarehouse, match=r"interrupted. This ends it: \./spark-submit\.sh quarantine replay --warehouse"):
        run_job(damaged.place, damaged.warehouse)
    assert replay(damaged, capsys, "--dry-run")["interrupted"] == "waits"
    done = replay(damaged, capsys, *(words if with_file else ["--where", "false"]))
    assert (done["interrupted"], done["put_back"]) == (("finished", 0) if point == IN_BRONZE else ("undone", 6))
    assert tables(damaged.warehouse) == tables(moved.warehouse)
    assert not Path(damaged.warehouse.replay_marker.removeprefix("file:")).exists()


def _dies_before(monkeypatch: pytest.MonkeyPatch, function: str, call: int) -> None:
    itself, calls = getattr(put_back, function), count(1)

    def dies(*given: Any) -> Any:
        if next(calls) == call:
            raise Crash
        return itself(*given)

    monkeypatch.setattr(put_back, function, dies)


def test_a_replay_that_died_with_its_last_write_done_is_over(moved: Damaged, capsys: pytest.CaptureFixture[str]) -> None:
    before = tables(moved.warehouse)
    marker = Path(moved.warehouse.replay_marker.removeprefix("file:"))
    for text in ("1", ""):
        marker.write_text(text)
        assert replay(moved, capsys, "--where", "false")["interrupted"] == "finished"
        assert tables(moved.warehouse) == before


def test_what_is_still_wrong_stays_and_is_told(copied: Callable[[], Damaged], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    damaged = copied()
    warehouse = damaged.warehouse
    file = damaged.repaired(tmp_path, "wrong")
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for row in rows[1:]:
        row["raw"] = json.dumps({**json.loads(row["raw"]), "ts": "then"})
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    # As a version before this one might have said it.
    quarantine = opened(warehouse.table("quarantine"))
    quarantine.update(predicate=f"raw = '{RUBBISH}'", new_values={"reason": "missing_field", "detail": "?"}, commit_properties=tagged())
    done = replay(damaged, capsys, "--from", str(file))
    assert (done["put_back"], done["rejected"], done["told_anew"], len(done["still_rejected"])) == (1, 2, 0, 2)
    assert {line["detail"] for line in done["still_rejected"]} == {'ts: "then" is not a long'}
    assert Counter(row["reason"] for row in listed(warehouse, "quarantine")) == {
        "wrong_type": 2, "not_json": 2, "text_too_long": 2, "missing_field": 1,
    }  # fmt: skip
    done = replay(damaged, capsys, "--where", f"raw = '{RUBBISH}'")
    assert (done["put_back"], done["told_anew"], done["reasons"]) == (0, 1, {"not_json": 1})
    (row,) = [row for row in listed(warehouse, "quarantine") if row["raw"] == RUBBISH]
    assert (row["reason"], row["detail"]) == ("not_json", "Expecting property name enclosed in double quotes at character 1")


def test_a_text_of_another_place_is_refused_and_nothing_changes(made: Damaged, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = made.repaired(tmp_path, "wrong")
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    rows[0]["raw"] = made.right_text(1)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    before = tables(made.warehouse)
    assert main(["quarantine", "replay", "--warehouse", made.warehouse.root, "--from", str(file)]) == 2
    assert "seq 1: nothing was changed" in capsys.readouterr().err
    assert tables(made.warehouse) == before


def test_it_does_not_write_beside_others_nor_without_a_warehouse_nor_by_a_bad_condition(
    made: Damaged, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["quarantine", "replay", "--warehouse", made.warehouse.root]
    with locked(made.warehouse, "a stream"):
        assert main(command) == 2
        assert "another driver" in capsys.readouterr().err
        assert main([*command, "--dry-run"]) == 0
        assert "1 lines would be put back into dispatch_events" in capsys.readouterr().out
    with locked(made.warehouse, "a maintain", UpkeepLock):
        assert main(command) == 2
        assert "another `maintain`" in capsys.readouterr().err
    bad = {
        "no_such_column = 1": "there is no column no_such_column",
        "reason =": "an argument is missing",
        "true); SELECT (1": "",
        "false) OR (reason = 'seq_taken'": "",
        "true) LIMIT (1": "",
        "true LIMIT 1": "expected one condition",
        "true UNION SELECT 1": "expected one condition",
        "raw IN (SELECT text FROM read_text('/etc/passwd'))": "",
        "make_date(2026, 13, source_line) IS NULL": "Date out of range: 2026-13-",
    }
    for where, words in bad.items():
        assert main([*command, "--where", where]) == 2
        assert f"--where {where}: {words}" in capsys.readouterr().err
    assert main(["quarantine", "replay", "--warehouse", str(tmp_path)]) == 2
    assert "there is no warehouse at" in capsys.readouterr().err


def test_a_condition_is_asked_once(copied: Callable[[], Damaged], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One that says something else each time moves whole lines all the same."""
    damaged = copied()
    file, moved = str(damaged.repaired(tmp_path)), 0
    for _ in range(4):
        moved += replay(damaged, capsys, "--from", file, "--where", "rand() < 0.5")["put_back"]
        told = listed(damaged.warehouse, "quarantine_replays")
        assert len(told) == moved
        assert len(listed(damaged.warehouse, "quarantine")) == 8 - moved
        assert {row["seq"] for row in told} <= {row["seq"] for row in listed(damaged.warehouse, "dispatch_events")}


def test_lines_of_a_micro_batch_that_spark_may_run_again_wait(copied: Callable[[], Damaged], capsys: pytest.CaptureFixture[str]) -> None:
    damaged = copied()
    commit = Path(damaged.warehouse.checkpoint("ingest").removeprefix("file:")) / "commits" / str(NEWEST)
    commit.unlink()
    commit.with_name(f".{commit.name}.crc").unlink(missing_ok=True)
    done = replay(damaged, capsys)
    assert (done["put_back"], done["unfinished"], done["cut"]) == (0, 4, 0)
    run_job(damaged.place, damaged.warehouse, drain=False, **STRICT)
    assert replay(damaged, capsys)["put_back"] == 1
