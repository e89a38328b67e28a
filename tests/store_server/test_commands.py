"""One warehouse's life in each store and on this machine: the same commands, the same answers, the same rows after each of them."""

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from backfill_run import run_backfill_command
from capture_events import capture_events
from day_logs import DAY_US, around_midnight, moved
from in_store import run_in_store
from job_run import run_job
from killed_job import VOLATILE, Rows, differences, tables_of_warehouse
from log_ways import Run
from pyspark.sql import SparkSession

from console.command_line import main
from pipeline.query.room import ReadingRoom
from pipeline.store.arrow_reader import arrow_rows
from pipeline.store.files import files_at
from pipeline.store.table_log import opened
from pipeline.upkeep import vacuum
from pipeline.warehouse.commit_tag import tagged
from pipeline.warehouse.layout import Warehouse

pytestmark = pytest.mark.captures
#: Positions in the log of what is lost at first and brought by a later file, and of a line that is rejected until somebody repairs it.
LATE, REJECTED = range(400, 430), 700
OF_A_RUN = VOLATILE | {"began_at", "finished_at", "replayed_at", "backfilled_by", "run_at", "bronze_version", "based_on"}
#: Each is asked at the end. Not `status --checkpoint`: gofakes3 lists the mark of a folder as a file, too, which S3 does not do, and
#: Spark then finds a partition of the state twice.
QUESTIONS = (
    ["why", "--all"],
    ["sql", "SELECT * FROM throttled_now ORDER BY ALL"],
    ["sql", "SELECT count(*), sum(seq), min(ts) FROM dispatch_events WHERE seq BETWEEN 5 AND 900", "--consistent"],
    ["sql", "SELECT lines_in, bronze, quarantined, replayed, ingest_balanced, lanes_balanced, lanes_behind, late FROM log_balance"],
    ["sql", "SELECT broker, awaited, late, lost_events FROM log_health"],
    ["quality"],
)


@pytest.fixture(scope="module")
def log(captures: Path) -> list[dict[str, Any]]:
    """Four days: a broker over midnight, and, after a restart two days later, over midnight again."""
    first = around_midnight(capture_events(captures / "l_holes_redelivery_seek"))
    return [*first, *moved(around_midnight(capture_events(captures / "h_size_quota_eviction")), 2 * DAY_US)]


@pytest.fixture
def keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> Callable[[Warehouse], None]:
    """Lets `maintain` remove at once what is out of bronze: a test cannot wait for a week."""
    monkeypatch.setattr(vacuum, "SHORTEST", timedelta(0))
    monkeypatch.setattr(vacuum, "MARGIN", timedelta(0))
    at_once = {"delta.deletedFileRetentionDuration": "interval 0 hours"}
    return lambda warehouse: opened(warehouse.table("dispatch_events")).alter.set_table_properties(at_once, commit_properties=tagged())


class Life:
    """A warehouse, and what was seen of it; `folder` has the files of its log on this machine."""

    def __init__(self, warehouse: Warehouse, folder: Path, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
        self.warehouse, self._folder, self._run, self._capsys = warehouse, folder, run, capsys
        self.seen: list[tuple[str, Any]] = []
        self.tables: list[tuple[str, dict[str, Rows]]] = []

    def arrives(self, name: str, lines: str) -> None:
        """A file of the log."""
        (self._folder / "events").mkdir(parents=True, exist_ok=True)
        (self._folder / "events" / name).write_text(lines, encoding="utf-8")

    def streams(self) -> None:
        """What arrived."""
        self._run(self._folder / "events", self.warehouse, ingest__max_files_per_batch="1")
        self.kept("stream")

    def asked(self, *words: str) -> str:
        """What a command says, but for where it was asked."""
        self._capsys.readouterr()
        code = main([*words, "--warehouse", self.warehouse.root])
        said = self._capsys.readouterr()
        assert code in (0, 1), said.err
        text = said.out.replace(self.warehouse.root, "WAREHOUSE")
        return f"{text}{code}"

    def document(self, *words: str) -> dict[str, Any]:
        """The same as its document."""
        said = self.asked(*words, "--format", "json")
        assert said.endswith("0"), said
        document: dict[str, Any] = json.loads(said[:-1].strip().splitlines()[-1])
        self.kept(" ".join(words[:2]))
        return document

    def kept(self, after: str) -> None:
        """How the tables are now."""
        rows = tables_of_warehouse(self.warehouse, OF_A_RUN)
        del rows["quality_results"]  # its rows name versions of tables, which follow from how Spark cut the log
        self.tables.append((after, rows))

    def repaired(self, folder: Path, line: str) -> str:
        """A file for `quarantine replay --from` that mends the one rejected line."""
        (row,) = arrow_rows(self.warehouse.table("quarantine"), ("source_file", "source_line", "raw_sha256")).to_pylist()
        path = folder / "repaired.jsonl"
        path.write_text(json.dumps({**row, "raw": line}) + "\n", encoding="utf-8")
        return str(path)


def text(events: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(event, separators=(",", ":")) + "\n" for event in events)


def lived(spark: SparkSession, life: Life, log: list[dict[str, Any]], folder: Path, keeps_nothing: Callable[[Warehouse], None]) -> None:
    """All that may happen to a warehouse."""
    came = [{**event, "topic": 7} if place == REJECTED else event for place, event in enumerate(log) if place not in LATE]
    for number in range(6):
        life.arrives(f"{number}.jsonl", text(came[len(came) * number // 6 : len(came) * (number + 1) // 6]))
    life.streams()
    merges = ("maintain", "--set", "maintain.merge_from_files=2")
    assert life.document(*merges)["tables"]["dispatch_events"]["merged_files"] > 1
    replayed = life.document("quarantine", "replay", "--from", life.repaired(folder, text([log[REJECTED]]).strip()))
    assert replayed["put_back"] == 1
    life.arrives("late.jsonl", text([log[place] for place in LATE]))
    life.streams()
    for more in (("--dry-run",), ()):
        done = run_backfill_command(spark, life.warehouse, "--pending", *more)
        assert done["done"], "dates wait for the late events"
        life.seen.append(("backfill", done["done"]))
        life.kept("backfill")
    keeps_nothing(life.warehouse)
    removed = life.document(*merges)["tables"]["dispatch_events"]
    assert removed["removed_files"] > 1, removed["not_removed_because"]
    for words in QUESTIONS:
        life.seen.append((" ".join(words), life.asked(*words)))
    (topic, subscription), *_ = sorted(_subscriptions(life.warehouse))
    life.seen.append(("explain", life.asked("explain", topic, subscription)))
    status = life.document("status")
    life.seen.append(("status", [status[key] for key in ("problems", "quarantine", "missing_tables", "foreign_versions")]))
    assert life.asked("rebuild", "lanes", "--yes").endswith("0")
    life.streams()
    life.seen.append(("why after rebuild", life.asked("why", "--all")))
    assert life.asked("quality").endswith("0")


def _subscriptions(warehouse: Warehouse) -> Iterator[tuple[str, str]]:
    for row in ReadingRoom(warehouse).rows("SELECT DISTINCT topic, subscription FROM subscription_causes"):
        yield row["topic"], row["subscription"]


def test_every_command_does_there_what_it_does_here(
    spark: SparkSession,
    log: list[dict[str, Any]],
    any_place: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    keeps_nothing: Callable[[Warehouse], None],
) -> None:
    here = Life(Warehouse(f"file:{tmp_path}/here/warehouse"), tmp_path / "here", run_job, capsys)
    there = Life(Warehouse(f"{any_place}/warehouse"), tmp_path / "there", run_in_store, capsys)
    for life, folder in ((here, tmp_path / "here"), (there, tmp_path / "there")):
        folder.mkdir()
        lived(spark, life, log, folder, keeps_nothing)
    assert [after for after, _ in here.tables] == [after for after, _ in there.tables]
    for (after, one), (_, other) in zip(here.tables, there.tables, strict=True):
        assert differences(other, one) == {}, f"(missing, too many) after {after}"
    for (asked, one), (_, other) in zip(here.seen, there.seen, strict=True):
        assert other == one, asked
    files = files_at(there.warehouse.root)
    left = {name for name in files.names(there.warehouse.root) if name.startswith("_")}
    assert left <= {"_checkpoints", "_backfill"}, "no lock is left"
    assert files.bytes_below(there.warehouse.staging) == 0, "at most Hadoop's mark of the folder"
