"""The quality job over a real warehouse: all is right, and every planted fault is caught and named."""

import json
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from delta.tables import DeltaTable
from docs_pages import DOCS, queries, text_of
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from spark_cache import forget_cached_tables

from jobs.cli import main
from jobs.locked import locked
from pipeline.faults import BadWarehouse, BrokenInvariant
from pipeline.quality.expectations import expectation_of
from pipeline.quality.judge import judge_law, judge_table
from pipeline.quality.laws import LAWS, NAMES, Law
from pipeline.quality.rules import Rule
from pipeline.quality.validation import Validation
from pipeline.quality.verdict import Verdict
from pipeline.reading.newest import NewestRoom
from pipeline.store.table_log import newest_version_at
from pipeline.views.register import register, register_reports, register_tables
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.newest_cut import newest_cut
from pipeline.warehouse.tables import create_missing_tables, make_report_table
from schemas.tables import JOB_TABLES, TABLES_BY_NAME
from schemas.tables.quality import QUALITY_RESULTS

NOW = datetime(2026, 11, 21, tzinfo=UTC)


@pytest.fixture(scope="module")
def session(spark: SparkSession, sound: Warehouse) -> SparkSession:
    """A session in which the tables are as the newest cut has them."""
    session = spark.newSession()
    register_tables(session, sound, newest_cut(NewestRoom(sound)))
    register_reports(session, sound, ["backfills"])
    return session


def test_a_sound_warehouse_passes_beside_a_running_job_and_says_so_everywhere(
    spark: SparkSession, sound: Warehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is of the version before, too: without quality_results."""
    shutil.rmtree(sound.table("quality_results"))
    forget_cached_tables(spark)
    docs = tmp_path / "docs"
    with locked(sound, "a job that writes"):
        assert main(["quality", "--warehouse", sound.root, "--docs", str(docs)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line for line in said if line.startswith("BROKEN")] == []
    results = spark.read.format("delta").load(sound.table("quality_results")).collect()
    assert said[-1] == f"{len(results)} of {len(results)} hold; {docs / 'index.html'}"
    assert {row.law for row in results if row.kind == "law"} == set(NAMES)
    assert {row.table_name for row in results if row.kind == "key"} == {table.name for table in JOB_TABLES}
    assert {(row.success, row.unexpected, row.example) for row in results} == {(True, 0, None)}
    bronze = next(row for row in results if row.table_name == "dispatch_events")
    assert bronze.table_versions == {"dispatch_events": str(newest_cut(NewestRoom(sound)).versions["dispatch_events"])}
    index = (docs / "index.html").read_text(encoding="utf-8")
    assert all(name in index for name in (*NAMES, *(table.name for table in JOB_TABLES)))
    assert len(list((docs / "validations").rglob("*.html"))) == len(NAMES) + len(JOB_TABLES)


def test_the_sound_warehouse_had_every_trouble(session: SparkSession) -> None:
    """Else the laws would hold of nothing."""
    counts = {name: session.table(name).count() for name in ("quarantine", "late_events", "log_gaps", "quota_eviction_moves")}
    assert all(counts.values()), counts
    row = session.sql(
        "SELECT sum(duplicates) AS repeated, sum(quarantined) AS tombstones FROM batch_manifest WHERE query = 'lanes'"
    ).first()
    assert row is not None
    assert (row.repeated, row.tombstones > 0) == (30, True)
    (most,) = session.sql("SELECT max(reads_blocked) AS blocked FROM subscription_throttle").collect()
    assert most.blocked > 0


Fault = Callable[[DataFrame], DataFrame]


def without(where: str) -> Fault:
    """Rows that are gone."""
    return lambda rows: rows.where(f"NOT ({where})")


def one_more(column: str, where: str = "true", by: int = 1) -> Fault:
    """A number that is too large by `by`."""
    return lambda rows: rows.withColumn(column, F.expr(f"IF({where}, {column} + {by}, {column})"))


def twice(where: str) -> Fault:
    """Rows that are there again."""
    return lambda rows: rows.unionAll(rows.where(where))


def instead(column: str, value: str) -> Fault:
    """Another value (SQL) in every row."""
    return lambda rows: rows.withColumn(column, F.expr(value))


def also(where: str, column: str, value: str) -> Fault:
    """Rows that are there again, with another value (SQL)."""
    return lambda rows: rows.unionAll(rows.where(where).withColumn(column, F.expr(value)))


def and_row(row: str) -> Fault:
    """A row (SQL) that belongs to nothing."""
    return lambda rows: rows.unionByName(rows.sparkSession.sql(f"SELECT {row}"))


#: A topic that waited while no connection was paused: in the demo's first seconds only consumers are.
WAITED = """'b1' AS broker, 1L AS epoch, 'persistent://shop/eu/orders' AS topic, 1D AS completeness,
    now() AS window_start, now() AS window_end, 0 AS clock_segment,
    5L AS producers_paused_ns, 1L AS publish_limited_times, 1L AS connections_paused_max"""
#: Law, the table in which the fault is planted, the fault.
FAULTS: list[tuple[str, str, Fault]] = [
    ("every_line_is_an_event_or_quarantined", "dispatch_events", without("seq = 500")),
    ("every_line_is_an_event_or_quarantined", "quarantine", twice("source_line > 0")),
    ("every_line_is_an_event_or_quarantined", "ingest_files", one_more("lines")),
    ("every_line_is_an_event_or_quarantined", "batch_manifest", one_more("rows_in", "query = 'ingest' AND batch_id = 0")),
    ("every_line_is_an_event_or_quarantined", "batch_manifest", without("query = 'ingest' AND batch_id = 0")),
    ("every_id_has_a_name", "names", without("level = 'subscription'")),
    ("packets_hold_their_events", "dispatch_events", without("seq = 500")),
    ("packets_hold_their_events", "dispatch_events", instead("lane_packet", "NULL")),
    ("lanes_read_every_event_once", "dispatch_events", without("seq = 500")),
    ("lanes_read_every_event_once", "dispatch_events", twice("seq = 500")),
    ("lanes_read_every_event_once", "lane_control", without("kind = 'tombstone'")),
    ("every_event_has_one_fate", "batch_manifest", one_more("applied", "query = 'lanes' AND batch_id = 0")),
    ("every_event_has_one_fate", "batch_manifest", lambda rows: one_more("rows_in", by=-9)(one_more("held", by=-9)(rows))),
    ("every_loss_is_told", "log_gaps", twice("kind = 'lost'")),
    ("every_loss_is_told", "late_events", without("true")),
    ("the_log_reaches_every_window", "broker_windows", without("events > 0")),
    ("the_log_reaches_every_window", "broker_windows", instead("log_until", "window_end + INTERVAL 1 SECOND")),
    ("the_log_reaches_every_window", "broker_windows", instead("last_event_at", "log_until + INTERVAL 1 SECOND")),
    ("windows_sum_to_counters", "subscription_throttle", one_more("dispatch_throttled_bytes_events_by_topic_limit")),
    ("windows_sum_to_counters", "subscription_throttle", one_more("modelled_dispatch_throttled_msg_events_by_topic_limit_since_open")),
    ("reads_add_up", "subscription_throttle", one_more("reads_nominal")),
    ("reads_add_up", "subscription_throttle", one_more("blocked_ns")),
    ("every_cursor_is_checked", "subscription_backlog", without("check_number = 3")),
    ("every_cursor_is_checked", "topic_backlog", without("check_number = 3")),
    ("backlog_waterfall_closes", "subscription_backlog", one_more("acknowledged_entries")),
    ("backlog_waterfall_closes", "subscription_backlog", one_more("unexplained_entries")),
    ("backlog_counters_never_fall", "subscription_backlog", one_more("dispatched_entries", "check_number < 9", by=10**6)),
    ("evictions_are_the_sum_of_their_moves", "quota_eviction_moves", without("true")),
    ("evictions_are_the_sum_of_their_moves", "quota_evictions", one_more("entries_evicted")),
    ("check_histograms_add_up", "quota_checks", one_more("le_10")),
    ("check_histograms_add_up", "quota_checks", one_more("le_inf_since_start")),
    ("pauses_and_resumes_alternate", "channel_backpressure", one_more("resumed_count")),
    ("transitions_are_counted", "channel_transitions", without("change = 'unwritable'")),
    ("paused_time_has_its_reasons", "channel_backpressure", one_more("paused_ns", by=10**11)),
    ("a_full_buffer_pauses_only_if_it_may", "channel_backpressure", instead("pause_enabled", "false")),
    ("topics_wait_for_paused_connections", "topic_publish_pauses", and_row(WAITED)),
    ("write_buffers_hold_what_channels_show", "channel_memory", without("true")),
    ("one_policy_is_in_force", "policies", instead("shadowed_by", "'topic'")),
    ("backlog_time_has_its_causes", "subscription_causes", one_more("ns")),
    ("backlog_time_has_its_causes", "subscription_causes", one_more("backlog_ns")),
    ("backlog_time_has_its_causes", "subscription_causes", instead("is_main", "false")),
    ("margins_are_of_blocked_reads", "limiter_margins", one_more("reads", by=10**6)),
    ("margins_are_of_blocked_reads", "limiter_margins", instead("granted_entries", "wanted_entries + 1")),
    ("days_end_in_order", "lane_snapshots", instead("mark", "'day'")),
    ("days_end_in_order", "lane_snapshots", also("mark = 'drained'", "next_seq", "next_seq + 1")),
]


def test_every_law_has_a_fault() -> None:
    assert {law for law, _, _ in FAULTS} == set(NAMES)


@pytest.fixture
def plant(session: SparkSession) -> Iterator[Callable[[str, Fault], None]]:
    """Replaces a table by one with the fault, until the end of the test."""
    planted: list[tuple[str, DataFrame]] = []

    def replace(table: str, fault: Fault) -> None:
        rows = session.table(table)
        planted.append((table, rows))
        fault(rows).createOrReplaceTempView(table)

    yield replace
    for table, rows in planted:
        rows.createOrReplaceTempView(table)


@pytest.mark.parametrize(("name", "table", "fault"), FAULTS, ids=[f"{law}-{table}-{n}" for n, (law, table, _) in enumerate(FAULTS)])
def test_a_fault_against_a_law_is_caught(
    session: SparkSession, plant: Callable[[str, Fault], None], name: str, table: str, fault: Fault
) -> None:
    law = Law(name)
    plant(table, fault)
    verdict = judge_law(session.sql(law.sql), law, Validation("r", NOW), {})
    assert (verdict.success, verdict.law, verdict.demand) == (False, name, law.sentence)
    assert table in verdict.table_name
    assert verdict.unexpected > 0
    assert json.loads(verdict.example or "")


@pytest.fixture(scope="module")
def broken_table(session: SparkSession) -> list[Verdict]:
    """What is said of topic_backlog with a null, a number out of range, a text of no set, and a row that is there again."""
    rows = session.table("topic_backlog")
    faults = {
        "broker": "IF(check_number = 2, NULL, broker)",
        "backlog_size": "IF(check_number IN (3, 4), -5, backlog_size)",
        "decision": "IF(check_number = 5, 'maybe', decision)",
    }
    spoilt = rows.withColumns({name: F.expr(expression) for name, expression in faults.items()})
    return judge_table(twice("check_number = 6")(spoilt), TABLES_BY_NAME["topic_backlog"], Validation("r", NOW), {"topic_backlog": "1"})


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
    broken_table: list[Verdict], kind: str, columns: str, unexpected: int, check: tuple[int, ...], shown: dict[str, object]
) -> None:
    (verdict,) = [verdict for verdict in broken_table if not verdict.success and verdict.kind == kind]
    assert (verdict.table_name, verdict.columns, verdict.unexpected) == ("topic_backlog", columns, unexpected)
    example = json.loads(verdict.example or "")
    assert example["check_number"] in check
    assert {name: example[name] for name in shown} == shown


def test_nothing_but_the_planted_faults_is_broken(broken_table: list[Verdict]) -> None:
    assert [verdict.kind for verdict in broken_table if not verdict.success] == ["not_null", "range", "set", "key"]


def test_nulls_in_a_key_count_as_values_and_rows_beyond_its_condition_do_not(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(None, 1), (None, 1), ("a", 0), ("a", 0), ("b", 1)], "place string, line long")
    key = Rule("key", ("place", "line"), where="line > 0")
    (result,) = Validation("r", NOW).validate("rows", rows, [expectation_of(key, 0)])
    assert (result.success, result.result["unexpected_count"]) == (False, 2)


def test_what_cannot_be_evaluated_is_loud_and_no_verdict(spark: SparkSession) -> None:
    with pytest.raises(BrokenInvariant, match="expect_column_values_to_not_be_null could not be evaluated"):
        Validation("r", NOW).validate("rows", spark.range(1), [expectation_of(Rule("not_null", ("no_such",)), 0)])


def test_a_table_of_another_version_is_refused(session: SparkSession) -> None:
    with pytest.raises(BadWarehouse, match="table names lacks level"):
        judge_table(session.table("names").drop("level"), TABLES_BY_NAME["names"], Validation("r", NOW), {})


@pytest.fixture
def spoilt(spark: SparkSession, sound: Warehouse) -> Iterator[Warehouse]:
    """A row in names that Delta would have refused, and books that do not add up; put right again after the test."""
    paths = [sound.table(table) for table in ("names", "batch_manifest")]
    before = [newest_version_at(path) for path in paths]
    names, manifest = (f"delta.`{path}`" for path in paths)
    spark.sql(f"ALTER TABLE {names} DROP CONSTRAINT level")
    spark.sql(f"INSERT INTO {names} VALUES (1, 'cluster', NULL, NULL, NULL)")
    in_the_cut = f"map_concat(map_filter(table_versions, (k, v) -> k <> 'names'), map('names', '{newest_version_at(paths[0])}'))"
    spark.sql(f"UPDATE {manifest} SET table_versions = {in_the_cut}, applied = applied + IF(query = 'lanes', 1, 0)")
    yield sound
    for path, version in zip(paths, before, strict=True):
        DeltaTable.forPath(spark, path).restoreToVersion(version)


def test_what_came_past_the_checks_ends_with_one_a_line_each_and_rows_that_the_docs_query_shows(
    spark: SparkSession, spoilt: Warehouse, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["quality", "--warehouse", spoilt.root, "--tables", "names,batch_manifest"]) == 1
    broken = [line for line in capsys.readouterr().out.splitlines() if line.startswith("BROKEN")]
    assert broken[0] == 'BROKEN names.level: 1 row: level is one of broker, topic, subscription; e.g. {"id": 1, "level": "cluster"}'
    assert [line.split(":")[0] for line in broken[1:]] == ["BROKEN law every_event_has_one_fate"]
    session = spark.newSession()
    register(session, spoilt)
    found, runs = (session.sql(query).collect() for query in queries(text_of(DOCS / "quality.md")))
    assert {(row.table_name, row.columns, row.law) for row in found} == {
        ("names", "level", ""), ("batch_manifest", "", "every_event_has_one_fate"),
    }  # fmt: skip
    assert runs[-1].broken == 2


def test_another_results_table_is_refused_with_what_to_do(spark: SparkSession, tmp_path: Path) -> None:
    other = Warehouse(str(tmp_path))
    spark.sql(f"CREATE TABLE delta.`{other.table('quality_results')}` (run_id STRING) USING DELTA")
    with pytest.raises(BadWarehouse, match=r"column law \(string\) is missing.*move .*quality_results away"):
        make_report_table(other, QUALITY_RESULTS)


def test_a_folder_without_tables_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], spark: SparkSession) -> None:
    assert main(["quality", "--warehouse", str(tmp_path)]) == 2
    assert "there is no warehouse at" in capsys.readouterr().err


def test_the_laws_hold_of_empty_tables(spark: SparkSession, tmp_path: Path) -> None:
    empty, session = Warehouse(str(tmp_path)), spark.newSession()
    create_missing_tables(empty)
    register_tables(session, empty, newest_cut(NewestRoom(empty)))
    register_reports(session, empty, ["backfills"])
    assert {law.name: session.sql(law.sql).count() for law in LAWS} == dict.fromkeys(NAMES, 0)
