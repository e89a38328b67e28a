"""An epoch that was held to be over, and of which more came: its end moves."""

from datetime import UTC, date, datetime, timedelta

from query.conftest import append

from pipeline.query.room import ReadingRoom
from pipeline.repair.backfill.plan import moved_ends
from pipeline.repair.backfill.stretch import Dates
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import create_missing_tables

ENDED, BATCH = 100, 8


def day(number: int) -> date:
    return date(2026, 1, 5) + timedelta(days=number)


def late(seq: int, number: int, *, broker: str = "b", reason: str = "epoch_over", batch: int = BATCH) -> dict:
    ts = datetime(2026, 1, 5, tzinfo=UTC) + timedelta(days=number)
    return {"broker": broker, "epoch": 1, "seq": seq, "event_date": day(number), "ts": ts, "reason": reason, "ingest_batch": batch}


def test_an_end_moves_to_the_newest_event_after_it_and_never_back(warehouse: Warehouse) -> None:
    create_missing_tables(warehouse)
    brokers = ("b", "earlier date", "before the end", "not yet", "given up")
    ends = [{"broker": name, "epoch": 1, "milestone": "ended", "event_date": day(2), "next_seq": ENDED, "state": b""} for name in brokers]
    begun = [{"broker": "b", "epoch": 1, "milestone": "day", "event_date": day(0), "next_seq": 10, "digest": 3, "state": b"s"}]
    append(warehouse, "lane_snapshots", [*begun, *ends])
    append(
        warehouse,
        "late_events",
        [
            late(ENDED, 3),
            late(ENDED + 5, 4),
            late(ENDED, 0, broker="earlier date"),  # its clock was wrong
            late(ENDED - 1, 4, broker="before the end"),
            late(ENDED, 4, broker="not yet", batch=BATCH + 1),
            late(ENDED, 4, broker="given up", reason="given_up"),
        ],
    )
    found = sorted(moved_ends(ReadingRoom(warehouse), BATCH), key=lambda dates: dates.broker)
    assert found == [Dates("b", day(2), day(4)), Dates("earlier date", day(2), day(2))]
