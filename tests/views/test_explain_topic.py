"""`explain TOPIC` over a log by hand: compaction fails, its cursor fills the quota, and producers are shut out."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from captured_warehouse import warehouse_of_logs
from log_builder import TOPIC, Log

from pipeline.reading.room import ReadingRoom
from pipeline.verdict.evidence import NoAnswer
from pipeline.verdict.topic_answer import text_lines, topic_answer
from pipeline.warehouse.layout import Warehouse

WHY = (Path(__file__).parents[2] / "docs" / "why.md").read_text(encoding="utf-8")
SIZE, ENTRIES = 20_000, 30


def shut_out() -> Log:
    """30 entries of 20,000 bytes, a quota of 500,000; checks each minute. The check of minute 1 comes before the last of them."""
    log = Log()
    log.at(0).add("broker_start", cluster="c", version="4.0.8", log_version="1.1", settings={})
    log.add("topic_load", topic=TOPIC).add("ledger_open", topic=TOPIC, ledger=5)
    log.add(
        "backlog_quota", topic=TOPIC, quota_type="destination_storage", limit=500_000, policy="producer_request_hold", source="namespace"
    )
    log.add("cursor_open", topic=TOPIC, sub="__compaction", durable=True, ledger=5, entry=-1, cursor_kind="compaction")
    log.add("cursor_open", topic=TOPIC, sub="cache", durable=True, ledger=5, entry=-1, cursor_kind="subscription")
    log.add("producer_open", topic=TOPIC, producer=1, conn=1)
    for entry in range(ENTRIES):
        at = 3 * entry + 1
        published = {"msgs": 1, "bytes": SIZE, "publish_ts": 1_795_260_000_000 + 1_000 * at}
        log.at(at).add("publish", topic=TOPIC, ledger=5, entry=entry, **published)
        log.add("mark_delete", topic=TOPIC, sub="cache", ledger=5, entry=entry, persisted=True)
        if at == 58:
            _check(log.at(60), exceeded=False, closes=False)
    for minute in (2, 3, 4):
        _check(log.at(60 * minute), exceeded=True, closes=minute == 2)
        log.at(60 * minute + 5).add("compaction", topic=TOPIC, phase="end", duration_us=1, error="TimeoutException")
    return log.at(300).add("heartbeat", dropped=0)


def _check(log: Log, *, exceeded: bool, closes: bool) -> None:
    log.add("quota_round", phase="start")
    if exceeded:
        log.add("quota_exceeded", topic=TOPIC, quota_type="destination_storage", policy="producer_request_hold", limit=500_000)
    if closes:
        log.add("producer_close", topic=TOPIC, producer=1, conn=1)
    log.add("quota_check", topic=TOPIC, duration_us=10).add("quota_round", phase="end", duration_us=20)


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """Of that log."""
    return warehouse_of_logs([shut_out().events], tmp_path_factory.mktemp("shut-out"))


def test_it_names_who_fills_the_quota_and_since_when_producers_are_shut_out(warehouse: Warehouse) -> None:
    found = topic_answer(ReadingRoom(warehouse), TOPIC, None, None)
    assert found["verdict"] == (
        f"Producers of {TOPIC} are shut out since 2026-11-21T11:22:00Z (2 min): its size quota is exceeded (producer_request_hold)."
        " It is filled by the cursor of compaction (__compaction): 30 entries and 600,000 bytes are behind it,"
        " the oldest message is 3 min 59 s old."
    )
    assert found["producers_shut_out"]["closed"] == 1
    assert [one["cursor_kind"] for one in found["subscriptions"]] == ["compaction", "subscription"]
    lines = "\n".join(text_lines(found))
    assert "the last 2 compactions failed, the newest at 2026-11-21T11:23:05Z (TimeoutException)" in lines
    assert "pulsar-admin topics compaction-status" in lines
    assert "unsubscribe" not in lines


def test_before_the_quota_was_exceeded_nobody_is_shut_out(warehouse: Warehouse) -> None:
    found = topic_answer(ReadingRoom(warehouse), TOPIC, None, datetime(2026, 11, 21, 11, 21, 30, tzinfo=UTC))
    words = f"No quota of {TOPIC} is exceeded at 2026-11-21T11:21:00Z. The slowest cursor is the cursor of compaction"
    assert (found["exceeded"], found["verdict"].startswith(words)) == (False, True)
    assert found["advice"] == []


def test_the_document_has_the_keys_that_are_promised(warehouse: Warehouse) -> None:
    found = topic_answer(ReadingRoom(warehouse), TOPIC, None, None)
    promised = WHY.partition("## A topic as a whole")[2].partition("\n## ")[0]
    assert set(found) == set(re.findall(r"`(\w+)`", promised.partition("Its keys are ")[2].partition("\n\n")[0]))
    assert set(found["subscriptions"][0]) == set(re.findall(r"`subscriptions\[\]\.(\w+)`", promised))


def test_a_topic_without_a_check_has_no_answer(warehouse: Warehouse) -> None:
    with pytest.raises(NoAnswer, match="no quota check of a topic"):
        topic_answer(ReadingRoom(warehouse), f"{TOPIC}-2", None, None)
