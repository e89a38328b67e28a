"""The invariants of channels over the logs of real brokers: they hold there, and each is broken by each fault that it is for."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from capture_events import capture_events
from lane_tables import SETTINGS, tables_of
from lane_views import spark_rows
from planted_room import PlantedRoom, instead

from pipeline.upkeep.quality.invariants import INVARIANTS, Invariant
from pipeline.upkeep.quality.measures import invariant_measure
from pipeline.warehouse.append import append_rows
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import create_missing_tables
from schemas.tables import TABLES_BY_NAME

pytestmark = pytest.mark.captures

TABLES = ("channel_backpressure", "channel_transitions", "topic_publish_pauses", "channel_memory")
CHANNEL_INVARIANTS = tuple(invariant for invariant in INVARIANTS if set(invariant.tables) <= set(TABLES))
#: With pauses in several windows: one of a minute, and many of 5 s.
WINDOWS_MS = (60_000, 5_000)


@pytest.fixture(scope="module")
def room(captures: Path, tmp_path_factory: pytest.TempPathFactory) -> PlantedRoom:
    """A warehouse whose tables hold three captures, each in windows of both lengths; a broker's name has the length."""
    warehouse = Warehouse(f"file:{tmp_path_factory.mktemp('channels')}")
    create_missing_tables(warehouse)
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES}
    for capture in ("o_unwritable", "y_incident", "p1_batches"):
        events = capture_events(captures / capture, until_as_of=False)
        for window_ms in WINDOWS_MS:
            found = tables_of(events, settings=replace(SETTINGS, window_ms=window_ms))
            for name in TABLES:
                rows[name] += [row | {"broker": f"{capture}-{window_ms}"} for row in found[name]]
    for name in TABLES:
        table = TABLES_BY_NAME[name]
        append_rows(warehouse, table, [dict(zip(table.names, row, strict=True)) for row in spark_rows(name, rows[name])])
    return PlantedRoom(warehouse)


@pytest.mark.parametrize("invariant", CHANNEL_INVARIANTS, ids=lambda invariant: invariant.name)
def test_it_holds_of_real_brokers(room: PlantedRoom, invariant: Invariant) -> None:
    assert room.rows(invariant.sql) == []


def test_the_logs_have_what_the_invariants_are_about(room: PlantedRoom) -> None:
    (row,) = room.rows("""
        SELECT sum(paused_count) AS pauses, max(requests_limited) AS limited, count(DISTINCT window_start) AS windows,
          max(paused_ns) AS longest
        FROM channel_backpressure WHERE broker LIKE '%-5000'""")
    assert row["pauses"] == 2593 + 28 + 5  # otel.txt of each
    assert row["limited"] > 0
    assert row["windows"] > 20
    assert row["longest"] > 10**8
    assert len(room.rows("SELECT * FROM topic_publish_pauses")) > 5


FAULTS = [
    ("pauses_and_resumes_alternate", "channel_backpressure", "paused_count", "paused_count + 1"),
    ("pauses_and_resumes_alternate", "channel_backpressure", "resumed_count", "resumed_count + 1"),
    ("pauses_and_resumes_alternate", "channel_backpressure", "paused", "NOT paused"),
    ("pauses_and_resumes_alternate", "channel_backpressure", "modelled_resumed_count", "modelled_resumed_count + 1"),
    ("transitions_are_counted", "channel_backpressure", "unwritable_count", "unwritable_count + 1"),
    ("transitions_are_counted", "channel_backpressure", "paused_count", "greatest(paused_count - 1, 0)"),
    ("transitions_are_counted", "channel_transitions", "changed_connection", "false"),
    ("transitions_are_counted", "channel_transitions", "conn", "conn + 1"),
    ("paused_time_has_its_reasons", "channel_backpressure", "paused_ns", "greatest(paused_ns - 1, 0)"),
    ("paused_time_has_its_reasons", "channel_backpressure", "paused_ns", "paused_ns + 1"),
    ("paused_time_has_its_reasons", "channel_backpressure", "cooldown_ns", "cooldown_ns + 62000000000"),
    ("a_full_buffer_pauses_only_if_it_may", "channel_backpressure", "pause_enabled", "false"),
    ("a_full_buffer_pauses_only_if_it_may", "channel_backpressure", "unwritable_ns", "unwritable_ns + 1"),
    ("topics_wait_for_paused_connections", "topic_publish_pauses", "producers_paused_ns", "producers_paused_ns + 60000000000"),
    ("topics_wait_for_paused_connections", "topic_publish_pauses", "publish_limited_times", "publish_limited_times + 100000"),
    ("topics_wait_for_paused_connections", "topic_publish_pauses", "connections_paused_max", "connections_paused_max + 5"),
    ("topics_wait_for_paused_connections", "channel_backpressure", "window_start", "window_start - INTERVAL 1 DAY"),
    ("write_buffers_hold_what_channels_show", "channel_backpressure", "pending_bytes_at_least", "pending_bytes_at_least + 100000000"),
    ("write_buffers_hold_what_channels_show", "channel_memory", "connections_paused", "connections_paused + 1"),
    ("write_buffers_hold_what_channels_show", "channel_memory", "connections_unwritable", "connections_unwritable + 1"),
    (
        "write_buffers_hold_what_channels_show",
        "channel_memory",
        "write_buf_memory_used_bytes",
        "write_buf_memory_used_bytes_max + 1",
    ),
    ("write_buffers_hold_what_channels_show", "channel_memory", "exact", "NOT exact"),
]


@pytest.mark.parametrize(
    ("name", "table", "column", "value"), FAULTS, ids=[f"{invariant}-{column}-{n}" for n, (invariant, _, column, _) in enumerate(FAULTS)]
)
def test_a_fault_breaks_it(room: PlantedRoom, name: str, table: str, column: str, value: str) -> None:
    with room.planted(table, instead(column, value)):
        assert invariant_measure(room, Invariant(name)).broken > 0


def test_every_invariant_of_channels_has_a_fault() -> None:
    assert {invariant.name for invariant in CHANNEL_INVARIANTS} == {name for name, *_ in FAULTS}
