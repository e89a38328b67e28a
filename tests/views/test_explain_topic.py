"""`explain TOPIC` over a log by hand: compaction fails, its cursor fills the quota, and producers are shut out."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from captured_warehouse import warehouse_of_logs
from log_builder import EPOCH, SUB, TOPIC, Log

from pipeline.diagnosis.answer import answer
from pipeline.diagnosis.evidence import NoAnswer
from pipeline.diagnosis.topic_answer import is_well, text_lines, topic_answer
from pipeline.query.room import ReadingRoom
from pipeline.warehouse.layout import Warehouse

JSON = (Path(__file__).parents[2] / "docs" / "reference" / "json.md").read_text(encoding="utf-8")
SIZE, ENTRIES = 20_000, 30
START = datetime(2026, 11, 21, 11, 20, tzinfo=UTC)


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
        " the oldest message is 3 min 59 s old. The last 2 compactions failed, the newest at 2026-11-21T11:23:05Z (TimeoutException)."
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
    assert (found["exceeded"], found["verdict"].startswith(words), is_well(found)) == (False, True, True)
    assert found["advice"] == []


def test_where_events_were_lost_nobody_is_told_that_no_quota_is_exceeded(tmp_path: Path) -> None:
    """The publishes up to the check of minute 1 are gone: the check finds no backlog, and proves nothing."""
    events = [event for event in shut_out().events if event["type"] != "publish" or event["entry"] > 20]
    room = ReadingRoom(warehouse_of_logs([events], tmp_path))
    found = topic_answer(room, TOPIC, None, datetime(2026, 11, 21, 11, 21, 30, tzinfo=UTC))
    assert (found["exceeded"], found["unknown_reason"], found["missing"]) == (False, "events_lost", ["events_lost"])
    assert found["verdict"].startswith(
        f"Whether a quota of {TOPIC} is exceeded at 2026-11-21T11:21:00Z is not known: events of the log were"
    )
    assert not is_well(found)


def test_an_answer_about_a_subscription_speaks_of_no_time_before_the_process(tmp_path: Path) -> None:
    """The process began 20 s after its first window."""
    log = Log(EPOCH + 30_000).at(20).start().publish(3).at(80).add("heartbeat", dropped=0)
    found = answer(ReadingRoom(warehouse_of_logs([log.events], tmp_path)), TOPIC, SUB, None, None, timedelta(minutes=5))
    assert (found["from"], found["to"]) == (START + timedelta(seconds=20), START + timedelta(seconds=80))
    assert "of the last 1 min " in found["verdict"]


def test_the_document_has_the_keys_that_are_promised(warehouse: Warehouse) -> None:
    found = topic_answer(ReadingRoom(warehouse), TOPIC, None, None)
    promised = JSON.partition("## explain TOPIC\n")[2].partition("\n## ")[0]
    assert set(found) == set(re.findall(r"`(\w+)`", promised.partition("Its keys are ")[2].partition("\n\n")[0]))
    assert set(found["subscriptions"][0]) == set(re.findall(r"`subscriptions\[\]\.(\w+)`", promised))


def test_a_topic_without_a_check_has_no_answer(warehouse: Warehouse) -> None:
    with pytest.raises(NoAnswer, match="no quota check of a topic"):
        topic_answer(ReadingRoom(warehouse), f"{TOPIC}-2", None, None)


def test_who_set_a_quota_is_of_the_check_that_the_quota_is_of(tmp_path: Path) -> None:
    """The topic was unloaded since: at the end nobody sets anything for it."""
    log = shut_out()
    quota = {"quota_type": "destination_storage", "limit": 500_000, "policy": "producer_request_hold"}
    log.at(0).add("policy_set", source="namespace", policy_kind="backlog_quota", namespace="shop/eu", **quota)
    log.at(290).add("topic_unload", topic=TOPIC)
    log.events.sort(key=lambda event: event["ns"])
    for seq, event in enumerate(log.events, 1):
        event["seq"] = seq
    room = ReadingRoom(warehouse_of_logs([log.events], tmp_path))
    (quota,) = answer(room, TOPIC, "cache", None, None, timedelta(minutes=10))["quotas"]
    assert quota["set_by"] == "namespace"


def waiting_in_an_open_ledger() -> Log:
    """An age quota of a minute: the only message waits for five, and its ledger is open."""
    log = Log()
    settings = {"managedLedgerMaxLedgerRolloverTimeMinutes": "240"}
    log.at(0).add("broker_start", cluster="c", version="4.0.8", log_version="1.2", settings=settings)
    log.add("topic_load", topic=TOPIC).at(10).add("ledger_open", topic=TOPIC, ledger=5)
    for quota, limit in (("destination_storage", -1), ("message_age", 60)):
        log.add("backlog_quota", topic=TOPIC, quota_type=quota, limit=limit, policy="producer_request_hold", source="namespace")
    log.add("cursor_open", topic=TOPIC, sub=SUB, durable=True, ledger=5, entry=-1, cursor_kind="subscription")
    log.at(20).add("publish", topic=TOPIC, ledger=5, entry=0, msgs=1, bytes=100, publish_ts=round(START.timestamp() * 1000) + 20_000)
    for minute in (1, 2, 3, 4, 5):
        _check(log.at(60 * minute), exceeded=False, closes=False)
    return log


def test_when_the_broker_will_see_the_age_of_the_oldest_message(tmp_path: Path) -> None:
    found = topic_answer(ReadingRoom(warehouse_of_logs([waiting_in_an_open_ledger().events], tmp_path)), TOPIC, None, None)
    opened = START + timedelta(seconds=10)
    assert (found["age"]["believed_s"], found["age"]["true_ms"]) == (-1, 280_000)
    assert found["age"]["counts_by"] == opened + timedelta(minutes=252)
    assert found["age"]["exceeds_by"] == opened + timedelta(minutes=253)
    assert any("managedLedgerMaxLedgerRolloverTimeMinutes" in line for line in text_lines(found))


EAST = "pulsar.repl.east"


def with_a_replicator(*connected: bool | str) -> Log:
    """What is told of its connection, ten seconds apart: an event with the class of a failed try, else a state."""
    log = Log()
    log.at(0).add("broker_start", cluster="c", version="4.0.8", log_version="1.2", settings={})
    log.add("topic_load", topic=TOPIC).add("ledger_open", topic=TOPIC, ledger=5, snapshot=True)
    log.add("cursor_open", topic=TOPIC, sub=EAST, durable=True, ledger=5, entry=-1, cursor_kind="replicator")
    log.add("publish", topic=TOPIC, ledger=5, entry=0, msgs=1, bytes=100, publish_ts=1)
    where = {"topic": TOPIC, "sub": EAST}
    for number, told in enumerate(connected):
        log.at(10 * number + 10)
        if isinstance(told, str):
            log.add("replicator_connection", **where, connected=False, error=told)
        else:
            positions = {"ledger": 5, "entry": -1, "read_ledger": 5, "read_entry": 0, "deleted_entries": 0, "backlog_entries": 1}
            log.add("state", **where, as_of_seq=1, **positions, delayed_entries=0, connected=told)
    _check(log.at(100), exceeded=False, closes=False)
    return log


@pytest.mark.parametrize(
    ("connected", "expected"),
    [
        ((True, False, False), {"connected": False, "since": 20, "failed": 0, "error": None, "seen_at": 30}),
        ((False, True, True), {"connected": True, "since": 20, "failed": 0, "error": None}),
        (("A", "B", False), {"connected": False, "since": 10, "failed": 2, "error": "B"}),
        (("A", True, "B"), {"connected": False, "since": 30, "failed": 1, "error": "B"}),
    ],
)
def test_since_when_a_replicator_is_connected_or_not(
    tmp_path: Path, connected: tuple[bool | str, ...], expected: dict[str, object]
) -> None:
    found = topic_answer(ReadingRoom(warehouse_of_logs([with_a_replicator(*connected).events], tmp_path)), TOPIC, None, None)
    (row,) = found["replicators"]
    times = {name: START + timedelta(seconds=int(str(expected[name]))) for name in ("since", "seen_at") if name in expected}
    assert {name: row[name] for name in expected} == {**expected, **times}
    assert ("It is connected" in found["verdict"]) == row["connected"]
    assert ("It is not connected" in found["verdict"]) != row["connected"]
