"""The quality job over a real warehouse: all is right, and every planted fault is caught and named."""

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import deltalake
import pyarrow as pa
import pytest
from docs_pages import DOCS, queries, text_of
from loaded import contents
from planted_room import PlantedRoom

from console.command_line import main
from driver.locked import locked
from jobs.quality import look_for
from pipeline.faults import BadWarehouse
from pipeline.query.room import ReadingRoom
from pipeline.store.table_log import newest_version_at
from pipeline.upkeep.quality.finding import Finding
from pipeline.upkeep.quality.invariants import NAMES
from pipeline.upkeep.quality.judge import judge_table
from pipeline.upkeep.quality.validation import Validation
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.newest_cut import newest_cut
from pipeline.warehouse.tables import make_report_table
from schemas.tables import JOB_TABLES, TABLES_BY_NAME
from schemas.tables.quality import QUALITY_RESULTS

NOW = datetime(2026, 11, 21, tzinfo=UTC)


def folder_of(warehouse: Warehouse, table: str) -> Path:
    return Path(warehouse.table(table).removeprefix("file:"))


@pytest.fixture
def copied(sound: Warehouse, tmp_path: Path) -> Warehouse:
    """A copy that a test may spoil."""
    shutil.copytree(sound.root.removeprefix("file:"), tmp_path / "warehouse")
    return Warehouse(f"file:{tmp_path / 'warehouse'}")


def test_a_sound_warehouse_passes_and_says_so_everywhere(copied: Warehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is of the version before, too: without quality_results."""
    shutil.rmtree(folder_of(copied, "quality_results"))
    docs = tmp_path / "docs"
    assert main(["quality", "--warehouse", copied.root, "--docs", str(docs)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line for line in said if line.startswith("BROKEN")] == []
    results = contents(copied, "quality_results").to_pylist()
    assert said[-1] == f"{len(results)} of {len(results)} hold; {docs / 'index.html'}"
    assert {row["invariant"] for row in results if row["kind"] == "invariant"} == set(NAMES)
    assert {row["table_name"] for row in results if row["kind"] == "key"} == {table.name for table in JOB_TABLES}
    assert {(row["success"], row["unexpected"], row["example"]) for row in results} == {(True, 0, None)}
    bronze = next(row for row in results if row["table_name"] == "dispatch_events")
    version = newest_cut(ReadingRoom(copied)).versions["dispatch_events"]
    assert dict(bronze["table_versions"]) == {"dispatch_events": str(version)}
    index = (docs / "index.html").read_text(encoding="utf-8")
    assert all(name in index for name in (*NAMES, *(table.name for table in JOB_TABLES)))
    assert len(list((docs / "validations").rglob("*.html"))) == len(NAMES) + len(JOB_TABLES)


def test_it_runs_beside_a_job_that_writes(copied: Warehouse) -> None:
    with locked(copied, "a job that writes"):
        assert main(["quality", "--warehouse", copied.root, "--tables", "names"]) == 0


@pytest.fixture(scope="module")
def broken_table(room: PlantedRoom) -> list[Finding]:
    """What is said of topic_backlog with a null, a number out of range, a text of no set, and a row that is there again."""
    faults = {
        "broker": "CASE WHEN check_number <> 2 THEN broker END",
        "backlog_size": "CASE WHEN check_number IN (3, 4) THEN -5 ELSE backlog_size END",
        "decision": "CASE WHEN check_number = 5 THEN 'maybe' ELSE decision END",
    }
    spoilt = f"SELECT * REPLACE ({', '.join(f'{value} AS {name}' for name, value in faults.items())}) FROM sound"
    with room.planted("topic_backlog", f"{spoilt} UNION ALL SELECT * FROM sound WHERE check_number = 6"):
        return judge_table(room, TABLES_BY_NAME["topic_backlog"], Validation("r", NOW), {"topic_backlog": "1"})


@pytest.mark.parametrize(
    ("kind", "columns", "unexpected", "check", "shown"),
    [
        ("not_null", "broker", 1, (2,), {"broker": None}),
        ("range", "backlog_size", 2, (3, 4), {"backlog_size": -5}),
        ("set", "decision", 1, (5,), {"decision": "maybe"}),
        ("key", "broker, epoch, topic, check_time, check_number", 2, (6,), {}),
    ],
)
def test_a_fault_against_a_rule_is_caught_with_its_row(
    broken_table: list[Finding], kind: str, columns: str, unexpected: int, check: tuple[int, ...], shown: dict[str, object]
) -> None:
    (finding,) = [finding for finding in broken_table if not finding.success and finding.kind == kind]
    assert (finding.table_name, finding.columns, finding.unexpected) == ("topic_backlog", columns, unexpected)
    example = json.loads(finding.example or "")
    assert example["check_number"] in check
    assert {name: example[name] for name in shown} == shown


def test_nothing_but_the_planted_faults_is_broken(broken_table: list[Finding]) -> None:
    assert [finding.kind for finding in broken_table if not finding.success] == ["not_null", "range", "set", "key"]


def test_data_docs_show_what_is_broken(room: PlantedRoom, tmp_path: Path) -> None:
    validation = Validation("r", NOW)
    with room.planted("names", "SELECT * REPLACE ('cluster' AS level) FROM sound"):
        judge_table(room, TABLES_BY_NAME["names"], validation, {})
    validation.write_docs(tmp_path)
    (page,) = (tmp_path / "validations").rglob("*.html")
    assert "cluster" in page.read_text(encoding="utf-8")


def test_a_table_of_another_version_is_refused() -> None:
    old: Any = SimpleNamespace(columns=lambda table: [name for name in TABLES_BY_NAME[table].names if name != "level"])
    with pytest.raises(BadWarehouse, match="table names lacks level"):
        judge_table(old, TABLES_BY_NAME["names"], Validation("r", NOW), {})


@pytest.fixture
def spoilt(copied: Warehouse) -> Warehouse:
    """A row in names that Delta would have refused, and books that do not add up."""
    names = deltalake.DeltaTable(str(folder_of(copied, "names")))
    names.alter.drop_constraint("level")
    columns = names.to_pyarrow_table().schema
    deltalake.write_deltalake(names, pa.Table.from_pylist([{"id": 1, "level": "cluster"}], columns), mode="append")
    manifest = deltalake.DeltaTable(str(folder_of(copied, "batch_manifest")))
    newest = {"names": str(newest_version_at(copied.table("names")))}
    rows = manifest.to_pyarrow_table()
    changed = [
        {**row, "applied": row["applied"] + (row["query"] == "lanes"), "table_versions": dict(row["table_versions"]) | newest}
        for row in rows.to_pylist()
    ]
    deltalake.write_deltalake(manifest, pa.Table.from_pylist(changed, rows.schema), mode="overwrite")
    return copied


def test_what_came_past_the_checks_ends_with_one_a_line_each_and_rows_that_the_docs_query_shows(
    spoilt: Warehouse, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["quality", "--warehouse", spoilt.root, "--tables", "names,batch_manifest"]) == 1
    broken = [line for line in capsys.readouterr().out.splitlines() if line.startswith("BROKEN")]
    assert broken[0] == 'BROKEN names.level: 1 row: level is one of broker, topic, subscription; e.g. {"id": 1, "level": "cluster"}'
    assert [line.split(":")[0] for line in broken[1:]] == ["BROKEN invariant every_event_has_one_fate"]
    room = ReadingRoom(spoilt)
    found, runs = (room.rows(query) for query in queries(text_of(DOCS / "guide" / "quality.md")))
    assert {(row["table_name"], row["columns"], row["invariant"]) for row in found} == {
        ("names", "level", ""), ("batch_manifest", "", "every_event_has_one_fate"),
    }  # fmt: skip
    assert runs[-1]["broken"] == 2


def test_what_cannot_be_read_is_refused_before_anything_is_judged(copied: Warehouse) -> None:
    """A date that is null is the name of no folder that DuckDB could read a value from."""
    bronze = deltalake.DeltaTable(str(folder_of(copied, "dispatch_events")))
    rows = bronze.to_pyarrow_table()
    place = rows.schema.get_field_index("event_date")
    without = rows.set_column(place, rows.schema.field(place).with_nullable(True), pa.nulls(rows.num_rows, pa.date32()))
    shutil.rmtree(folder_of(copied, "dispatch_events"))
    for _ in range(newest_cut(ReadingRoom(copied)).versions["dispatch_events"] + 1):
        deltalake.write_deltalake(str(folder_of(copied, "dispatch_events")), without, partition_by=["event_date"], mode="append")
    with pytest.raises(BadWarehouse, match="has a file in an unknown folder"):
        look_for(copied.root, ["names", "dispatch_events"])
    look_for(copied.root, ["names"])


def test_another_results_table_is_refused_with_what_to_do(tmp_path: Path) -> None:
    other = Warehouse(f"file:{tmp_path}")
    deltalake.DeltaTable.create(str(tmp_path / "quality_results"), deltalake.Schema([deltalake.Field("run_id", "string")]))
    with pytest.raises(BadWarehouse, match=r"column invariant \(string\) is missing.*move .*quality_results away"):
        make_report_table(other, QUALITY_RESULTS)


def test_a_folder_without_tables_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["quality", "--warehouse", str(tmp_path)]) == 2
    assert "there is no warehouse at" in capsys.readouterr().err
