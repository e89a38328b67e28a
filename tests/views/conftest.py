"""A small warehouse, written by hand: one busy broker, one whose clock was set back, a log with every kind of trouble.

Its backlogs are in backlog_rows.py, its channels in channel_rows.py, its policies in policy_rows.py, causes in cause_rows.py.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from backlog_rows import backlog_tables
from capture_events import capture_events
from captured_warehouse import append_logs
from cause_rows import cause_tables
from channel_rows import channel_tables
from policy_rows import policy_tables
from pyspark.sql import SparkSession
from real_captures import CAPTURES
from real_captures import NAMES as NAMES_OF_CAPTURES
from views_from_memory import register_from_memory
from watch_rows import watch_tables

from pipeline.query.room import ReadingRoom
from pipeline.warehouse.append import append_rows
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.names import write_names
from pipeline.warehouse.tables import create_missing_tables
from schemas.ids import BROKER, id_of
from schemas.tables import TABLES_BY_NAME
from schemas.tables.bookkeeping import NAMES

EPOCH = 1_767_570_000_000
THREE = datetime(2026, 1, 5, 3, tzinfo=UTC)
ORDERS = "persistent://shop/eu/orders"
AUDIT = "persistent://finance/eu/audit-partition-0"
S = 10**9
Row = Mapping[str, Any]
#: Small ones that have something of each package between them: evictions, holes, connections that are not read from, limiters.
SOME_CAPTURES = ("c_broker_limit", "h_size_quota_eviction", "l_holes_redelivery_seek")
#: Lanes have read bronze whole.
WHOLE_BRONZE = 'v1\n{}\n{"reservoirVersion": 2, "index": -100, "isStartingVersion": false}\n-'
WINDOW = ("window_start", "window_end", "clock_segment")
#: What a column holds where a row does not say: nothing happened.
NOTHING = {"string": "", "long": 0, "int": 0, "boolean": False, "double": 1.0, "timestamp": THREE, "date": date(2026, 1, 5)}
USUAL = {"broker": "b1:8080", "epoch": EPOCH, "source": "observed", "complete": True, "v": 1, "dimension": "msg", "limiter": "token_bucket",
         "check_source": "log", "decision": "none", "action": "evict", "agrees": True, "disagreement": "none",
         "settings_vocabulary": "shipped", "pause_enabled": True, "water_marks_usable": True, "writable": True}  # fmt: skip


def minute(m: int) -> datetime:
    """03:00 UTC plus m minutes."""
    return THREE + timedelta(minutes=m)


def window(m: int, segment: int = 0) -> Row:
    """The window columns of the minute from 03:00 + m."""
    return {"window_start": minute(m), "window_end": minute(m + 1), "clock_segment": segment}


def held(m: int, blocked_s: int, **more: Any) -> Row:
    """A minute of `billing`, blocked by the topic's message limiter while entries waited."""
    return {
        "topic": ORDERS, "subscription": "billing", "opened_at": minute(-1), "sub_type": "Shared", **window(m),
        "reads": 60, "reads_shrunk": 10, "reads_blocked": 45, "reads_blocked_by_topic_limit": 45, "reads_binding": 55,
        "dispatch_throttled_msg_events_by_topic_limit": 55, "decisive_msg_by_topic_limit": 55,
        "blocked_ns": blocked_s * S, "blocked_ns_by_topic_limit": blocked_s * S,
        "dispatches": 10, "dispatched_entries": 100, "dispatched_msgs": 100, "dispatched_bytes": 1000, "waiting_entries": 400 * (m + 1),
        "dispatch_throttled_msg_events_by_topic_limit_since_open": 55 * (m + 1), **more,
    }  # fmt: skip


def throttle_rows() -> list[Row]:
    """subscription_throttle: a victim, its noisy neighbour, a nominal one, one idle, one closed, one on a clock that was set back."""
    billing = {"topic": ORDERS, "subscription": "billing", "opened_at": minute(-1)}
    export = {"topic": ORDERS, "subscription": "export", "opened_at": minute(-1), "reads": 50, "dispatched_msgs": 950, "uncharged_msgs": 50}
    report = {"topic": ORDERS, "subscription": "report", "opened_at": minute(0)}
    lowered = {"reads": 20, "reads_shrunk": 20, "reads_nominal": 20, "decisive_bytes_by_subscription_limit": 20,
               "dispatch_throttled_bytes_events_by_subscription_limit": 20}  # fmt: skip
    gone = {"topic": AUDIT, "subscription": "gone", "opened_at": minute(0), "reads": 5}
    stepped = {"broker": "b2:8080", "topic": AUDIT, "subscription": "stepped", "opened_at": minute(60), "reads": 1}
    counter = "dispatch_throttled_msg_events_by_broker_limit_since_open"
    return [
        {**billing, **window(-1), "reads": 5, "dispatched_msgs": 50},
        held(0, 40),
        held(1, 45),
        held(2, 50, completeness=0.5),
        *({**export, **window(m)} for m in (0, 1, 2)),
        *({**report, **window(m), **lowered} for m in (0, 2)),
        {"topic": AUDIT, "subscription": "idle", "opened_at": minute(0), "reads": 1, **window(0)},
        {**gone, **window(0), "blocked_ns": 2 * S, "reads_blocked": 2},
        {**gone, **window(1), "closed_at": minute(1) + timedelta(seconds=30)},
        {**stepped, **window(60), counter: 1},
        {**stepped, **window(0, segment=1), counter: 7},
    ]


def limiter_rows() -> list[Row]:
    """limiter_windows: the topic limiter that binds, one with the largest rate there is, one that ended in its minute."""
    topic = {"level": "topic", "topic": ORDERS, "created_at": minute(-10), "rate": 10, "period_ms": 1000, "asks": 110}
    mine = {"level": "subscription", "topic": ORDERS, "subscription": "report", "dimension": "bytes", "created_at": minute(0)}
    busy = {"used": 1000, "over_delivered": 250, "debt": 30, "permits_end": -30, "asks_shrunk": 10, "asks_blocked": 45, "asks_binding": 55}
    compared = {"compared": 110, "exact": 100, "within_clock_step": 8, "different": 2, "largest_difference": 4}
    endless = {"level": "broker", "dimension": "bytes", "created_at": minute(-10), "rate": 2**63 - 1, "period_ms": 3_600_000}
    ended = {"level": "topic", "topic": AUDIT, "created_at": minute(0), "closed_at": minute(1) + timedelta(seconds=30)}
    return [
        *({**topic, **window(m), **busy, **compared} for m in (0, 1, 2)),
        {**mine, **window(2), "rate": 4096, "period_ms": 1000, "used": 4096, "asks": 20, "asks_shrunk": 20},
        {**endless, **window(2), "used": 2**62, "permits_end": 2**62},
        {**ended, **window(1), "limiter": "classic", "rate": 5, "period_ms": 2000, "used": 75},
    ]


def event(broker: str, seq: int, **more: Any) -> Row:
    """A bronze row; one event a second from 03:00 on."""
    return {"broker": broker, "seq": seq, "ts": int((THREE + timedelta(seconds=seq)).timestamp()) * 10**6, "type": "heartbeat", **more}


def other_tables() -> dict[str, list[Row]]:
    """b1's log: 2 came twice, 6 and 7 were given up, then 7 came, 8 was rejected, 10 is awaited, so 11 is held. b2's log is whole.

    b3's began the day before, whose events were deleted; 103 is awaited. b4's began the day before, too, but its beginning was lost."""
    rate = {"type": "dispatch_rate", "level": "topic", "topic": ORDERS, "msg_rate": 10, "byte_rate": 0, "period_s": 1}
    bronze = [event("b1:8080", 1, type="broker_start", cluster="eu-1", version="4.0.8")]
    bronze += [event("b1:8080", seq) for seq in (2, 2, 3, 4, 9, 7, 11)]
    bronze += [event("b1:8080", 5, **rate), event("b2:8080", 1), event("b2:8080", 2)]
    bronze += [event("b3:8080", seq) for seq in (101, 102, 104)]
    bronze += [event("b4:8080", seq) for seq in (101, 102)]
    rejected = {"broker": "b1:8080", "epoch": EPOCH, "seq": 8, "ts": EPOCH * 1000, "reason": "out_of_range", "detail": "bytes is -1"}
    ingest = {"query": "ingest", "rows_in": 13, "bronze": 11, "quarantined": 2}
    newest = [{"broker_id": id_of(BROKER, "b1:8080"), "epoch": EPOCH, "at": minute(3)}]
    lanes = {"query": "lanes", "rows_in": 12, "applied": 8, "duplicates": 1, "late": 1, "quarantined": 1, "held": 1, "lost": 2}
    return {
        "dispatch_events": bronze,
        "quarantine": [
            rejected,
            {"reason": "not_json", "detail": "Expecting value", "broker": None, "epoch": None, "source_file": "a.jsonl", "source_line": 7},
        ],
        "lane_control": [{"kind": "tombstone", "epoch": EPOCH, "seq": 8}],
        "log_gaps": [
            {"kind": "lost", "from_seq": 6, "to_seq": 7, "events": 2, "ts_before": minute(0), "ts_after": minute(1)},
            {"broker": "b2:8080", "kind": "clock_step", "from_seq": 2, "to_seq": 2, "step_us": -3_600_000_000},
            {"broker": "b4:8080", "kind": "lost", "from_seq": 1, "to_seq": 100, "events": 100, "ts_after": minute(1)},
        ],
        "late_events": [{"seq": 7, "reason": "given_up"}],
        "batch_manifest": [
            {**ingest, "source_offsets": WHOLE_BRONZE, "written_at": minute(3)},
            {**lanes, "source_offsets": WHOLE_BRONZE, "written_at": minute(4), "newest_events": newest},
        ],
    }


def reached(tables: Mapping[str, list[Row]]) -> list[Row]:
    """broker_windows: every window of which a table has a row. The logs go on beyond them."""
    of_windows = [row for rows in tables.values() for row in rows if "window_end" in row]
    keys = {(row.get("broker", USUAL["broker"]), row.get("epoch", EPOCH), *(row.get(name, 0) for name in WINDOW)) for row in of_windows}
    return [
        {"broker": broker, "epoch": epoch, **dict(zip(WINDOW, window, strict=True)), "log_until": window[1], "events": 1}
        for broker, epoch, *window in sorted(keys)
    ]


def write(warehouse: Warehouse, table: str, rows: list[Row]) -> None:
    """Append the rows; a column that a row does not name is null, or what NOTHING and USUAL say if it may not be null."""
    declared = TABLES_BY_NAME[table]
    known = {f.name: None if f.nullable else USUAL.get(f.name, NOTHING.get(f.type)) for f in declared.fields}
    assert not {name for row in rows for name in row} - set(known)
    append_rows(warehouse, declared, [{**known, **row} for row in rows])


@pytest.fixture(scope="session")
def empty_warehouse(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """All tables, no rows."""
    warehouse = Warehouse(str(tmp_path_factory.mktemp("empty") / "warehouse"))
    create_missing_tables(warehouse)
    return warehouse


@pytest.fixture(scope="session")
def filled_warehouse(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """The tables with the rows above."""
    return fill(Warehouse(str(tmp_path_factory.mktemp("filled") / "warehouse")))


@pytest.fixture(scope="session")
def small_warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """The same, made without Spark. Nobody changes it."""
    return fill(Warehouse(f"file:{tmp_path_factory.mktemp('small') / 'warehouse'}"))


@pytest.fixture(scope="session")
def mixed_warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """The same with what lanes make of some captures beside it; in one, because Spark takes a second to plan a view.

    They have neither brokers nor times in common. They have a cluster in common: it is that of a broker which does not name its own.
    """
    mixed = fill(Warehouse(f"file:{tmp_path_factory.mktemp('mixed') / 'warehouse'}"))
    logs = [capture_events(CAPTURES / name) for name in SOME_CAPTURES if name in NAMES_OF_CAPTURES]
    append_logs(mixed, [[{**event, "cluster": "eu-1"} if "cluster" in event else event for event in log] for log in logs])
    return mixed


@pytest.fixture(scope="session")
def room(small_warehouse: Warehouse) -> ReadingRoom:
    """The reading room over it. test_both_engines.py holds its rows of every view against Spark's."""
    return ReadingRoom(small_warehouse)


def fill(filled: Warehouse) -> Warehouse:
    """Make the tables with the rows above; of a local folder no session is asked."""
    create_missing_tables(filled)
    of_lanes = {
        "subscription_throttle": throttle_rows(),
        "limiter_windows": limiter_rows(),
        **backlog_tables(),
        **channel_tables(),
        **cause_tables(),
        **policy_tables(),
    }
    of_lanes["broker_windows"] = reached(of_lanes)
    tables = {**of_lanes, **other_tables(), **watch_tables()}
    for batch in tables["batch_manifest"]:
        batch["table_versions"] = dict.fromkeys((*tables, NAMES.name), "1")
    for table, rows in tables.items():
        write(filled, table, rows)
    named = [row for name in (*of_lanes, "dispatch_events") for row in tables[name]]
    used = {(row.get("broker", USUAL["broker"]), row.get("topic"), row.get("subscription")) for row in named}
    write_names(used, filled, "ingest", 0)
    return filled


@pytest.fixture(scope="session")
def views(spark: SparkSession, filled_warehouse: Warehouse) -> None:
    """The filled warehouse registered in the session."""
    register_from_memory(spark, filled_warehouse)


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the repository."""
    return Path(__file__).resolve().parents[2]


@pytest.fixture
def in_python(tmp_path: Path) -> Callable[..., str]:
    """Run code in a new Python process with `code_at` (a folder or zip) as its only project code; returns what it printed."""

    def run(code: str, code_at: Path | None = None, *arguments: str) -> str:
        environment = {**os.environ, "PYTHONPATH": str(code_at or "")}
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
