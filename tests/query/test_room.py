"""The reading room reads what Delta's log says, no more of it than is asked for, and nothing moves under a reader."""

import json
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest
from deltalake import DeltaTable, Field
from deltalake.schema import PrimitiveType
from query.conftest import NOON, append, event

from console.named_warehouse import look_at_causes
from pipeline.faults import BadConfig, BadWarehouse
from pipeline.query.room import ReadingRoom
from pipeline.query.views.catalog import VIEWS, all_names
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.newest_cut import is_half_written, newest_cut
from schemas.field import Field as Declared
from schemas.tables import TABLES, TABLES_BY_NAME

SEQ = "SELECT seq FROM dispatch_events ORDER BY seq"


def folder_of(warehouse: Warehouse, table: str) -> Path:
    return Path(warehouse.table(table).removeprefix("file:"))


def delta_of(warehouse: Warehouse, table: str) -> DeltaTable:
    return DeltaTable(folder_of(warehouse, table).as_uri())


def seqs(room: ReadingRoom, where: str = "true") -> list[int]:
    return [row["seq"] for row in room.rows(f"SELECT seq FROM dispatch_events WHERE {where} ORDER BY seq")]


def test_every_table_and_view_answers_with_its_declared_columns(room: ReadingRoom) -> None:
    for name in all_names():
        answer = room.ask(f"SELECT * FROM {name}")
        assert answer.columns
    for table in TABLES:
        assert room.ask(f"SELECT * FROM {table.name}").columns == list(table.names)


def test_rows_have_python_s_types_and_times_their_zone(room: ReadingRoom, two_days: Warehouse) -> None:
    append(two_days, "batch_manifest", [{"query": "ingest", "table_versions": [("names", "1")], "written_at": NOON}])
    (row,) = room.rows("SELECT table_versions, written_at, table_versions['names'] AS one FROM batch_manifest")
    assert (row["table_versions"], row["one"], row["written_at"]) == ({"names": "1"}, "1", NOON)
    assert row["written_at"].utcoffset() == timedelta(0)


def test_files_of_other_days_and_tables_are_not_opened(room: ReadingRoom, two_days: Warehouse) -> None:
    for file in (folder_of(two_days, "dispatch_events") / "event_date=2026-01-05").iterdir():
        file.write_bytes(b"nothing that could be read")
    shutil.rmtree(folder_of(two_days, "quarantine"))
    assert seqs(room, "event_date = DATE '2026-01-06'") == [3]
    assert seqs(room, "event_date > DATE '2026-01-05' AND seq > 0") == [3]
    with pytest.raises(BadConfig):
        room.ask(SEQ)


def test_a_table_stays_as_it_was_opened_until_a_refresh(room: ReadingRoom, two_days: Warehouse) -> None:
    assert seqs(room) == [1, 2, 3]
    append(two_days, "dispatch_events", [event(4)])
    append(two_days, "names", [{"id": 2, "level": "topic", "topic": "persistent://t/n/a"}])
    assert seqs(room) == [1, 2, 3]
    assert room.refresh() == ["dispatch_events"], "names was not opened yet"
    assert seqs(room) == [1, 2, 3, 4]
    assert room.refresh() == []
    assert len(room.rows("SELECT * FROM topics")) == 1


def test_a_view_that_is_computed_once_is_computed_anew_when_a_table_has_changed(room: ReadingRoom, two_days: Warehouse) -> None:
    append(two_days, "dispatch_events", [event(1) | {"type": "broker_start", "epoch": 1, "cluster": "c", "version": "4.0.7"}])
    version = "SELECT version, started_epoch FROM brokers"
    assert room.rows(version) == [{"version": "4.0.7", "started_epoch": 1}]
    assert ("brokers",) in room._duckdb.execute("SELECT table_name FROM duckdb_tables()").fetchall()
    made = set(room._made)
    assert (room.refresh(), room._made) == ([], made), "nothing has changed: it stays"
    append(two_days, "dispatch_events", [event(1) | {"type": "broker_start", "epoch": 2, "cluster": "c", "version": "4.0.8"}])
    assert room.rows(version) == [{"version": "4.0.7", "started_epoch": 1}]
    room.refresh()
    assert room.rows(version) == [{"version": "4.0.8", "started_epoch": 2}]


def test_a_kept_view_is_computed_once_and_anew_only_when_a_table_under_it_has_changed(two_days: Warehouse) -> None:
    room = ReadingRoom(two_days, kept=("topics",))
    topics = "SELECT topic FROM topics ORDER BY topic"
    before = [row["topic"] for row in room.rows(topics)]
    assert ("topics",) in room._duckdb.execute("SELECT table_name FROM duckdb_tables()").fetchall()
    assert seqs(room) == [1, 2, 3]
    append(two_days, "dispatch_events", [event(4)])
    assert room.refresh() == ["dispatch_events"]
    assert "topics" in room._made, "no table of it has changed"
    append(two_days, "names", [{"id": 2, "level": "topic", "topic": "persistent://t/n/z"}])
    assert room.refresh() == ["names"]
    assert [row["topic"] for row in room.rows(topics)] == [*before, "persistent://t/n/z"]


def test_a_table_that_is_swapped_or_compacted_while_it_is_read_stays_as_it_was(room: ReadingRoom, two_days: Warehouse) -> None:
    assert seqs(room) == [1, 2, 3]
    delta_of(two_days, "dispatch_events").delete("seq = 2")
    delta_of(two_days, "dispatch_events").optimize.compact()
    assert seqs(room) == [1, 2, 3]
    room.refresh()
    assert seqs(room) == [1, 3]


def test_files_that_a_vacuum_took_are_one_line_and_a_refresh_goes_on(room: ReadingRoom, two_days: Warehouse) -> None:
    assert seqs(room) == [1, 2, 3]
    delta = delta_of(two_days, "dispatch_events")
    delta.delete("seq = 2")
    delta.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
    with pytest.raises(BadWarehouse, match="is gone while it was read") as gone:
        room.ask(SEQ)
    assert "\n" not in str(gone.value)
    room.refresh()
    assert seqs(room) == [1, 3]


def test_a_checkpoint_of_the_log_and_entries_before_it_that_are_gone_change_nothing(room: ReadingRoom, two_days: Warehouse) -> None:
    delta_of(two_days, "dispatch_events").create_checkpoint()
    for version in (0, 1):
        (folder_of(two_days, "dispatch_events") / "_delta_log" / f"{version:020}.json").unlink()
    assert seqs(room) == [1, 2, 3]


def test_a_column_that_older_files_lack_is_null_in_them(room: ReadingRoom, two_days: Warehouse) -> None:
    delta_of(two_days, "names").alter.add_columns(Field("added", PrimitiveType("long"), nullable=True))
    assert room.rows("SELECT id, added FROM names") == [{"id": 1, "added": None}]


def test_columns_that_were_added_since_the_table_was_made_are_null(monkeypatch: pytest.MonkeyPatch, two_days: Warehouse) -> None:
    names = TABLES_BY_NAME["names"]
    newer = replace(names, fields=(*names.fields, Declared("bytes", "binary", "added", nullable=True, added=True)))
    monkeypatch.setitem(TABLES_BY_NAME, "names", newer)
    assert ReadingRoom(two_days).rows("SELECT id, bytes FROM names") == [{"id": 1, "bytes": None}]


def test_what_only_spark_reads_is_refused_with_its_name(room: ReadingRoom, two_days: Warehouse) -> None:
    features = ["columnMapping"]
    protocol = {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": features, "writerFeatures": features}
    entry = folder_of(two_days, "names") / "_delta_log" / f"{2:020}.json"
    entry.write_text(json.dumps({"protocol": protocol}) + "\n", encoding="utf-8")
    with pytest.raises(BadWarehouse, match="table names needs columnMapping: only Spark reads that"):
        room.ask("SELECT * FROM names")


@pytest.mark.parametrize("uri", ["wasb://name/warehouse", "file:/data/100%/warehouse", "file:/data/a[1]/warehouse", "hdfs://name"])
def test_a_place_where_no_warehouse_can_be_is_refused(uri: str) -> None:
    with pytest.raises(BadWarehouse, match=uri.replace("[", r"\[") + ": "):
        ReadingRoom(Warehouse(uri))


def test_a_missing_table_of_the_job_is_an_error_to_people_and_empty_to_status(room: ReadingRoom, two_days: Warehouse) -> None:
    shutil.rmtree(folder_of(two_days, "quarantine"))
    assert room.rows("SELECT * FROM quarantine") == []
    with pytest.raises(BadWarehouse, match=r"no table quarantine in .* One is made by"):
        ReadingRoom(two_days).ask("SELECT * FROM quarantine")


def manifest(query: str, batch: int, bronze: int, **versions: int) -> dict[str, Any]:
    """A row of batch_manifest; lanes have read bronze whole."""
    offset = {"reservoirVersion": bronze + 1, "index": -100, "isStartingVersion": False}
    table_versions = [(name, str(version)) for name, version in {"dispatch_events": bronze, **versions}.items()]
    return {"query": query, "query_id": query, "batch_id": batch, "source_offsets": f"v1\n{{}}\n{json.dumps(offset)}\n-",
            "table_versions": table_versions, "written_at": NOON}  # fmt: skip


def test_with_consistent_tables_stand_at_the_newest_cut(two_days: Warehouse) -> None:
    append(two_days, "log_gaps", [{"kind": "lost", "from_seq": 9}])
    append(two_days, "batch_manifest", [manifest("ingest", 0, 1), manifest("lanes", 0, 1, log_gaps=1)])
    room = ReadingRoom(two_days, consistent=True)
    append(two_days, "log_gaps", [{"kind": "lost", "from_seq": 10}])
    assert seqs(room) == [1, 2]
    assert room.rows("SELECT from_seq FROM log_gaps") == [{"from_seq": 9}]
    append(two_days, "batch_manifest", [manifest("ingest", 1, 2), manifest("lanes", 1, 2, log_gaps=2)])
    assert len(room.rows("SELECT * FROM batch_manifest")) == 2
    assert set(room.refresh()) == {"dispatch_events", "log_gaps", "batch_manifest"}
    assert (seqs(room), len(room.rows("SELECT * FROM batch_manifest"))) == ([1, 2, 3], 4)
    append(two_days, "batch_manifest", [manifest("ingest", 2, 2), manifest("lanes", 2, 2, log_gaps=2)])
    assert room.refresh() == ["batch_manifest"], "it is newer, and so is its part of the cut"
    assert len(room.rows("SELECT * FROM batch_manifest")) == 6


def test_a_refresh_opens_the_manifest_anew_once_though_both_it_and_the_cut_have_changed(two_days: Warehouse) -> None:
    append(two_days, "batch_manifest", [manifest("ingest", 0, 1), manifest("lanes", 0, 1)])
    room = ReadingRoom(two_days, consistent=True)
    assert (seqs(room), len(room.rows("SELECT * FROM batch_manifest"))) == ([1, 2], 2)
    append(two_days, "batch_manifest", [manifest("ingest", 1, 2), manifest("lanes", 1, 2)])
    assert sorted(room.refresh()) == ["batch_manifest", "dispatch_events"]
    assert (seqs(room), len(room.rows("SELECT * FROM batch_manifest"))) == ([1, 2, 3], 4)


def replace_rows(warehouse: Warehouse, table: str, seq: int) -> None:
    """One commit that deletes rows, as a backfill's swap in Spark does: its writer reports that it is no blind append."""
    delta_of(warehouse, table).delete(f"from_seq = {seq}")
    folder = folder_of(warehouse, table)
    entry = folder / "_delta_log" / f"{delta_of(warehouse, table).version():020}.json"
    lines = [json.loads(line) for line in entry.read_text("utf-8").splitlines()]
    for line in lines:
        line.get("commitInfo", {})["isBlindAppend"] = False
    entry.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")


def test_with_consistent_a_backfill_s_swaps_are_seen_once_all_of_them_are_there(two_days: Warehouse) -> None:
    """A swap is a commit between micro-batches: no manifest has its version."""
    append(two_days, "log_gaps", [{"kind": "lost", "from_seq": 9}, {"kind": "lost", "from_seq": 10}])
    append(two_days, "batch_manifest", [manifest("ingest", 0, 1), manifest("lanes", 0, 1, log_gaps=1)])
    replace_rows(two_days, "log_gaps", 9)
    gaps = "SELECT from_seq FROM log_gaps ORDER BY from_seq"
    assert ReadingRoom(two_days, consistent=True).rows(gaps) == [{"from_seq": 9}, {"from_seq": 10}], "the backfill is amid its swaps"
    append(
        two_days,
        "backfills",
        [{"reason": "asked", "swapped": True, "finished_at": datetime.now(UTC) + timedelta(seconds=1), "settings": []}],
    )
    append(two_days, "log_gaps", [{"kind": "lost", "from_seq": 11}])
    assert ReadingRoom(two_days, consistent=True).rows(gaps) == [{"from_seq": 10}], "whole; the next micro-batch is not"


def test_with_consistent_a_version_that_is_vacuumed_is_an_error_of_one_line(two_days: Warehouse) -> None:
    append(two_days, "log_gaps", [{"kind": "lost", "from_seq": 9}])
    append(two_days, "batch_manifest", [manifest("ingest", 0, 1), manifest("lanes", 0, 1, log_gaps=1)])
    delta = delta_of(two_days, "log_gaps")
    delta.delete()
    time.sleep(0.01)  # in the millisecond of the delete nothing is older than now
    assert delta.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
    with pytest.raises(BadWarehouse, match="is gone while it was read") as gone:
        ReadingRoom(two_days, consistent=True).ask("SELECT * FROM log_gaps")
    assert "\n" not in str(gone.value)
    assert ReadingRoom(two_days).rows("SELECT * FROM log_gaps") == []


def test_reading_leaves_the_warehouse_as_it_is(room: ReadingRoom, two_days: Warehouse) -> None:
    def state() -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for path in Path(two_days.root.removeprefix("file:")).rglob("*")}

    before = state()
    for view in VIEWS:
        room.ask(f"SELECT * FROM {view}")
    room.refresh()
    assert state() == before


def test_show_and_describe(room: ReadingRoom) -> None:
    assert [row[1] for row in room.ask("SHOW VIEWS LIKE 'quota_r*'").rows] == ["quota_risk"]
    assert {row[1] for row in room.ask("show tables").rows} == set(all_names())
    assert room.ask("DESCRIBE TABLE names").rows[0] == ("id", "bigint", "broker_id, topic_id or sub_id")
    assert room.ask("SHOW COLUMNS IN names").rows[0] == ("id",)
    plan = room.ask("EXPLAIN SELECT id FROM names")
    assert plan.is_plan
    assert any("PARQUET" in line.upper() for (line,) in plan.rows)


def test_more_rows_than_asked_for_are_left_out(room: ReadingRoom) -> None:
    answer = room.ask(SEQ, 2)
    assert (answer.rows, answer.more) == ([(1,), (2,)], True)


REFUSED = [
    "DELETE FROM names", "INSERT INTO names VALUES (1)", "UPDATE names SET id = 1", "DROP VIEW names", "CREATE TABLE x AS SELECT 1",
    "MERGE INTO names USING names ON true WHEN MATCHED THEN DELETE", "TRUNCATE TABLE names", "SET TimeZone = 'Europe/Berlin'", "RESET x",
    "PRAGMA version", "INSTALL httpfs", "LOAD httpfs", "ATTACH '/tmp/x.db'", "COPY names TO '/tmp/x'", "EXPORT DATABASE '/tmp/x'",
    "CALL pragma_version()", "OPTIMIZE names", "VACUUM names", "CACHE TABLE names", "ADD JAR '/tmp/x.jar'", "EXECUTE IMMEDIATE 'SELECT 1'",
    "EXPLAIN DELETE FROM names", "EXPLAIN ANALYZE DELETE FROM names", "SELECT 1; DROP VIEW names", "",
    "WITH a AS (SELECT 1) DELETE FROM names", "SELECT TRANSFORM(id) USING 'cat' FROM names",
    "SELECT * FROM delta.`/data/other/names`", "SELECT * FROM parquet.`/tmp/x`", "SELECT * FROM '/tmp/x.parquet'",
    "SELECT * FROM read_parquet('/tmp/x')", "SELECT * FROM read_text('/etc/hostname')", "SELECT * FROM glob('/*')",
    "SELECT * FROM query('SELECT 1')", "SELECT * FROM names, LATERAL (SELECT * FROM csv.`/tmp/x`)",
    "SELECT (SELECT max(content) FROM read_text('/etc/hostname'))", "WITH a AS (SELECT * FROM json.`/tmp/x`) SELECT * FROM a",
    "SELECT * FROM names VERSION AS OF 0", "SELECT * FROM duckdb_settings()", "SELECT * FROM information_schema.tables",
    "SELECT * FROM pg_catalog.pg_tables", "SELECT * FROM sqlite_master", "DESCRIBE delta.`/tmp/x`",
]  # fmt: skip


@pytest.mark.parametrize("sql", REFUSED)
def test_what_is_no_query_of_the_warehouse_is_refused(room: ReadingRoom, two_days: Warehouse, sql: str) -> None:
    with pytest.raises(BadConfig, match="SQL: ") as refused:
        room.ask(sql)
    assert "\n" not in str(refused.value)
    assert seqs(ReadingRoom(two_days)) == [1, 2, 3]


def test_a_wrong_name_gets_a_suggestion(room: ReadingRoom) -> None:
    with pytest.raises(BadConfig, match="no table or view throtled_now; did you mean throttled_now"):
        room.ask("SELECT * FROM throtled_now")
    with pytest.raises(BadConfig, match="there is no column topik; did you mean topic"):
        room.ask("SELECT topik FROM names")


@pytest.mark.parametrize(
    "act",
    [
        lambda run: run("SELECT * FROM read_text('/etc/hostname')"),
        lambda run: run("COPY (SELECT 1) TO '/tmp/reading-room-wrote-this'"),
        lambda run: run("INSTALL httpfs"),
        lambda run: run("LOAD httpfs"),
        lambda run: run("SET enable_external_access = true"),
        lambda run: run("SET allowed_directories = ['/']"),
        lambda run: run("ATTACH '/tmp/reading-room.db'"),
        lambda run: run("SELECT * FROM two_days"),
    ],
)
def test_duckdb_itself_is_closed(room: ReadingRoom, two_days: Warehouse, act: Callable[[Any], object]) -> None:
    """Whatever came past the grammar."""
    assert two_days
    with pytest.raises(duckdb.Error):
        act(room._duckdb.execute)


def test_with_consistent_what_maintain_did_since_is_followed(two_days: Warehouse) -> None:
    """Its versions have the same rows, and files of the version before are deleted some day, though no micro-batch comes any more."""
    append(two_days, "log_gaps", [{"kind": "lost", "from_seq": 9}])
    append(two_days, "log_gaps", [{"kind": "lost", "from_seq": 10}])
    append(two_days, "batch_manifest", [manifest("ingest", 0, 1), manifest("lanes", 0, 1, log_gaps=2)])
    delta = delta_of(two_days, "log_gaps")
    delta.optimize.compact()
    delta.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
    gaps = "SELECT from_seq FROM log_gaps ORDER BY from_seq"
    assert ReadingRoom(two_days, consistent=True).rows(gaps) == [{"from_seq": 9}, {"from_seq": 10}]
    append(two_days, "log_gaps", [{"kind": "lost", "from_seq": 11}])
    assert ReadingRoom(two_days, consistent=True).rows(gaps) == [{"from_seq": 9}, {"from_seq": 10}], "that micro-batch is not whole"


def test_lanes_that_were_rebuilt_over_a_merged_bronze_are_in_the_cut(two_days: Warehouse) -> None:
    """They have read versions that no micro-batch of ingest knows, and no event that it does not."""
    append(two_days, "dispatch_events", [event(4, day=6)])
    append(two_days, "batch_manifest", [manifest("ingest", 0, 3)])
    delta_of(two_days, "dispatch_events").optimize.compact()
    merged = delta_of(two_days, "dispatch_events").version()
    append(two_days, "log_gaps", [{"kind": "lost", "from_seq": 9}])
    append(two_days, "batch_manifest", [manifest("lanes", 0, merged, log_gaps=1)])
    assert merged > 3, "a merge was made"
    assert ReadingRoom(two_days, consistent=True).rows("SELECT from_seq FROM log_gaps") == [{"from_seq": 9}]
    append(two_days, "dispatch_events", [event(5, day=6)])
    append(two_days, "log_gaps", [{"kind": "lost", "from_seq": 10}])
    append(two_days, "batch_manifest", [manifest("lanes", 1, merged + 1, log_gaps=2)])
    room = ReadingRoom(two_days, consistent=True)
    assert (room.rows("SELECT from_seq FROM log_gaps"), seqs(room)) == ([{"from_seq": 9}], [1, 2, 3, 4]), "of ingest that is not whole"


def test_half_of_the_first_micro_batch_is_no_answer(two_days: Warehouse) -> None:
    whole = newest_cut(ReadingRoom(two_days))
    assert not is_half_written(ReadingRoom(two_days), whole), "lanes have written nothing"
    append(two_days, "broker_windows", [{}])
    with pytest.raises(BadWarehouse, match=r"the first micro-batch of lanes in .* is not whole yet: ask again in a moment"):
        look_at_causes(two_days.root)
    append(two_days, "batch_manifest", [manifest("ingest", 0, 1), manifest("lanes", 0, 1, broker_windows=1)])
    assert look_at_causes(two_days.root).rows("SELECT count(*) AS n FROM broker_windows") == [{"n": 1}]
