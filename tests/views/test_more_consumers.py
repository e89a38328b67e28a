"""Whom more consumers would help, by the view `more_consumers`: rows by hand, windows and checks of a minute."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from views.conftest import EPOCH, THREE, write

from pipeline.query.room import ReadingRoom
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import create_missing_tables

TOPIC, SHUT = "persistent://shop/eu/orders", "persistent://shop/eu/shut"
Row = Mapping[str, Any]
LIMITED = ("throttled",) * 6
LEFT_ALONE = ("throttled",) * 5 + ("no_consumer",)
IN_FLIGHT = ("in_flight",) * 6

#: Subscription → (its causes, minute by minute; its type; the kind of its cursor; the answer, and why).
CASES: dict[str, tuple[tuple[str, ...], str, str, tuple[str | None, str]]] = {
    "limited": (LIMITED, "Shared", "subscription", ("no", "throttled")),
    "left-alone": (LEFT_ALONE, "Shared", "subscription", ("partly", "no_consumer")),
    "exclusive-left-alone": (LEFT_ALONE, "Exclusive", "subscription", ("partly", "no_consumer")),
    "reader-left-alone": (LEFT_ALONE, "Exclusive", "reader", ("no", "throttled")),
    "never-there": (("no_consumer",) * 6, "Shared", "subscription", ("yes", "no_consumer")),
    "reader-never-there": (("no_consumer",) * 6, "Shared", "reader", ("no", "reader")),
    "full": (("no_permits",) * 6, "Shared", "subscription", ("yes", "no_permits")),
    "one-active": (("no_permits",) * 6, "Failover", "subscription", ("no", "one_active_consumer")),
    "outpaced": (IN_FLIGHT, "Shared", "subscription", ("yes", "in_flight")),
    "outpaced-one-active": (IN_FLIGHT, "Exclusive", "subscription", ("no", "one_active_consumer")),
    "evens": (IN_FLIGHT, "Shared", "subscription", ("no", "in_flight")),
    "hangs": (IN_FLIGHT, "Shared", "subscription", ("no", "in_flight")),
    "opened-again": (IN_FLIGHT, "Shared", "subscription", ("no", "in_flight")),
    "shut": (IN_FLIGHT, "Shared", "subscription", (None, "shut_out")),
    "shut-one-active": (IN_FLIGHT, "Exclusive", "subscription", ("no", "in_flight")),
    "shut-full": (("no_permits",) * 6, "Shared", "subscription", ("yes", "no_permits")),
}
#: Entries that are acknowledged in a minute, of 1,200 that come; of others 1,200.
ACKNOWLEDGED = {"outpaced": 720, "outpaced-one-active": 720, "hangs": 1}


def topic_of(name: str) -> str:
    """A quota shuts producers of one topic out."""
    return SHUT if name.startswith("shut") else TOPIC


def minute(m: int) -> datetime:
    return THREE + timedelta(minutes=m)


def window(m: int) -> Row:
    return {"window_start": minute(m), "window_end": minute(m + 1), "clock_segment": 0}


def rows_of(name: str) -> dict[str, list[Row]]:
    causes, sub_type, kind, _ = CASES[name]
    about = {"topic": topic_of(name), "subscription": name}
    ns = 60 * 10**9
    return {
        "subscription_causes": [
            {**about, **window(m), "cause": cause, "ns": ns, "backlog_ns": ns, "entry_us": 9 * ns // 1000, "first_at": minute(m),
             "is_main": True, "main_since": minute(0), "backlog_end": 9}
            for m, cause in enumerate(causes)
        ],
        "subscription_throttle": [{**about, **window(m), "opened_at": THREE, "sub_type": sub_type} for m in range(6)],
        "subscription_backlog": [checked(name, m, kind) for m in range(1, 7)],
    }  # fmt: skip


def checked(name: str, m: int, kind: str) -> Row:
    """`opened-again`: consumers of its earlier cursor, until the fourth minute, did half of what came."""
    is_earlier = name == "opened-again" and m <= 4
    per_minute = 600 if is_earlier else ACKNOWLEDGED.get(name, 1200)
    return {
        "topic": topic_of(name), "subscription": name,
        "check_time": minute(m) - timedelta(milliseconds=1), "check_number": m, "cursor_kind": kind,
        "opened_at": minute(4) if name == "opened-again" and not is_earlier else THREE, "msg_backlog": 9, "published_entries": 1200 * m,
        "acknowledged_entries": per_minute * m,
    }  # fmt: skip


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Row]:
    folder: Path = tmp_path_factory.mktemp("more") / "warehouse"
    warehouse = Warehouse(f"file:{folder}")
    create_missing_tables(warehouse)
    tables: dict[str, list[Row]] = {
        "topic_backlog": [
            {
                "topic": topic,
                "check_time": minute(m) - timedelta(milliseconds=1),
                "check_number": m,
                "epoch": EPOCH,
                "decision": decision,
                "policy_size": "producer_exception",
            }
            for m in range(1, 7)
            for topic, decision in ((TOPIC, "none"), (SHUT, "size"))
        ],
        "broker_windows": [{**window(m), "log_until": minute(m + 1), "events": 9} for m in range(6)],
    }
    for name in CASES:
        for table, rows in rows_of(name).items():
            tables.setdefault(table, []).extend(rows)
    for table, rows in tables.items():
        write(warehouse, table, rows)
    rows_found = ReadingRoom(warehouse).rows("SELECT * FROM more_consumers")
    assert len(rows_found) == len(CASES), "a row each"
    return {row["subscription"]: row for row in rows_found}


@pytest.mark.parametrize("case", CASES)
def test_whom_more_consumers_help(found: Mapping[str, Row], case: str) -> None:
    assert (found[case]["answer"], found[case]["why"]) == CASES[case][3], found[case]
