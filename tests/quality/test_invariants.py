"""Every invariant holds of a real warehouse, by the reading room and by Spark, and every fault that is planted against it is caught."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from invariants_run import broken_invariants
from planted_room import PlantedRoom, also, and_row, instead, one_more, twice, without
from pyspark.sql import SparkSession

from pipeline.query.room import ReadingRoom
from pipeline.query.views.register import register
from pipeline.upkeep.quality.invariants import INVARIANTS, NAMES, Invariant
from pipeline.upkeep.quality.judge import judge_invariant
from pipeline.upkeep.quality.measures import invariant_measure
from pipeline.upkeep.quality.validation import Validation
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.newest_cut import newest_cut
from pipeline.warehouse.tables import create_missing_tables

NOW = datetime(2026, 11, 21, tzinfo=UTC)

#: A topic that waited while no connection was paused: in the demo's first seconds only consumers are.
WAITED = """'b1' AS broker, 1 AS epoch, 'persistent://shop/eu/orders' AS topic, 1 AS completeness,
    now() AS window_start, now() AS window_end, 0 AS clock_segment,
    5 AS producers_paused_ns, 1 AS publish_limited_times, 1 AS connections_paused_max"""
#: Invariant, the table in which the fault is planted, the fault.
FAULTS: list[tuple[str, str, str]] = [
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
    ("every_event_has_one_fate", "batch_manifest", "SELECT * REPLACE (rows_in - 9 AS rows_in, held - 9 AS held) FROM sound"),
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
    ("transitions_change_the_cause", "cause_transitions", instead("cause", "NULL")),
    ("transitions_change_the_cause", "cause_transitions", instead("since", "noticed_at + INTERVAL 1 SECOND")),
    ("margins_are_of_blocked_reads", "limiter_margins", one_more("reads", by=10**6)),
    ("margins_are_of_blocked_reads", "limiter_margins", instead("granted_entries", "wanted_entries + 1")),
    ("days_end_in_order", "lane_snapshots", instead("milestone", "'day'")),
    ("days_end_in_order", "lane_snapshots", also("milestone = 'ended'", "next_seq", "next_seq + 1")),
]


def test_every_invariant_has_a_fault() -> None:
    assert {invariant for invariant, _, _ in FAULTS} == set(NAMES)


def test_all_hold_of_a_log_that_had_every_trouble(room: PlantedRoom, sound: Warehouse) -> None:
    """Else they would hold of nothing."""
    assert broken_invariants(sound) == {}
    tables = ("quarantine", "late_events", "log_gaps", "quota_eviction_moves")
    counts = {name: room.rows(f"SELECT count(*) AS rows FROM {name}")[0]["rows"] for name in tables}
    assert all(counts.values()), counts
    (lanes,) = room.rows("SELECT sum(duplicates) AS repeated, sum(quarantined) AS tombstones FROM batch_manifest WHERE query = 'lanes'")
    assert (lanes["repeated"], lanes["tombstones"] > 0) == (30, True)
    assert room.rows("SELECT max(reads_blocked) AS blocked FROM subscription_throttle")[0]["blocked"] > 0


@pytest.mark.parametrize(
    ("name", "table", "fault"), FAULTS, ids=[f"{invariant}-{table}-{n}" for n, (invariant, table, _) in enumerate(FAULTS)]
)
def test_a_fault_against_a_invariant_is_caught(room: PlantedRoom, name: str, table: str, fault: str) -> None:
    invariant = Invariant(name)
    with room.planted(table, fault):
        finding = judge_invariant(room, invariant, Validation("r", NOW), {})
    assert (finding.success, finding.invariant, finding.demand) == (False, name, invariant.sentence)
    assert table in finding.table_name
    assert finding.unexpected > 0
    assert json.loads(finding.example or "")


def test_spark_understands_them_too(spark: SparkSession, sound: Warehouse) -> None:
    """Whoever registers the tables in a session asks the same text. What the engines might count in two ways is counted here."""
    session = spark.newSession()
    register(session, sound, newest_cut(ReadingRoom(sound)), " ".join(invariant.sql for invariant in INVARIANTS))
    assert [invariant.name for invariant in INVARIANTS if not session.sql(invariant.sql).columns] == []
    (packets,) = session.sql(Invariant("packets_hold_their_events").sql.replace("<>", "=")).collect()
    (lanes,) = session.sql(Invariant("lanes_read_every_event_once").sql.partition("WHERE rows_read")[0]).collect()
    assert packets["events_held"] == packets["events_in_packets"] > 8_000
    assert (lanes["caught_up"], lanes["rows_read"]) == (True, lanes["bronze"] + lanes["tombstones"])


def test_they_hold_of_empty_tables(tmp_path: Path) -> None:
    empty = Warehouse(f"file:{tmp_path}")
    create_missing_tables(empty)
    room = ReadingRoom(empty, consistent=True)
    assert {invariant.name: invariant_measure(room, invariant).broken for invariant in INVARIANTS} == dict.fromkeys(NAMES, 0)
