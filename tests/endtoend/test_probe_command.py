"""`probe --at` over a warehouse says what the pure lane says of the same instant, and leaves the warehouse as it is."""

import json
import re
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

import pytest
from bookkeeper.quota_script import EVICTION, SIZE, TOPIC, Log, ms
from capture_events import write_events
from deltalake import DeltaTable
from job_run import run_job
from lane_rows import lane_rows
from lane_tables import SETTINGS, as_tables
from pyspark.sql import SparkSession

from driver.locked import locked
from jobs.probe import add_arguments, micros_of, run
from pipeline.diagnosis.probe.brokers import text_of
from pipeline.faults import BadConfig, BadWarehouse
from pipeline.lanes.probe import Probe
from pipeline.warehouse.layout import Warehouse
from schemas.tables import TABLES, TABLES_BY_NAME

Event = dict[str, Any]
OTHER, STOPPED, STEPPED = "persistent://t/n/other", "stopped:1", "stepped:1"
FIRST, SECOND = ms(0), ms(100)
#: Between two checks, in the second epoch of b:1; the log goes on for a minute.
AT_US = ms(130.2) * 1000
#: Lost in the log of the second broker, and rejected as a line that has no payload.
LOST_SEQ, REJECTED_SEQ = 9, 12


def life(log: Log, at: float) -> Log:
    """A minute of a topic that is evicted now and then, and of another without a backlog."""
    log.at(at).load(size=4_000, size_policy=EVICTION).open(1).sub("c1", (1, -1)).sub("c2", (1, -1)).producers(1)
    for second in range(60):
        log.at(at + second).publish(1, second)
        if second % 7 == 6:
            log.ack("c2", (1, second)).check(SIZE, limit=4_000, moves=[("c1", (1, second - 3))])
    log.topic = OTHER
    log.load().open(2).sub("c9", (2, -1))
    log.topic = TOPIC
    return log


def two_epochs() -> list[Event]:
    log = life(Log(epoch=FIRST), 0)
    log.start_epoch(epoch=SECOND, at=100)
    return life(log, 101).events


def stepped_broker() -> list[Event]:
    """Its clock is set back by 30 s in the end; it shows second 45 before and after that."""
    log = life(Log(epoch=FIRST), 0)
    set_back = [event | {"ts": event["ts"] - 30_000_000} for event in log.at(75).publish(1, 60).at(76).publish(1, 61).events[-2:]]
    return [event | {"broker": STEPPED} for event in [*log.events[:-2], *set_back]]


def other_brokers() -> list[Event]:
    """One with a gap and a rejected line, one that has stopped."""
    holed = [event | {"broker": "holed:1"} for event in life(Log(epoch=FIRST), 100).events]
    holed = [event if event["seq"] != REJECTED_SEQ else event | {"type": "publish", "entry": -5} for event in holed]
    stopped = [event | {"broker": STOPPED} for event in Log(epoch=FIRST).at(3).load().add("broker_stop").events]
    return [event for event in holed if event["seq"] != LOST_SEQ] + stopped


@pytest.fixture(scope="module")
def filled(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """A warehouse of all four brokers; lanes are behind nothing, no log is drained."""
    root = tmp_path_factory.mktemp("probed")
    write_events(two_epochs(), root / "events" / "b.jsonl")
    write_events([*other_brokers(), *stepped_broker()], root / "events" / "others.jsonl.gz")
    warehouse = Warehouse(str(root / "warehouse"))
    run_job(root / "events", warehouse, drain=False)
    return warehouse


def arguments(warehouse: Warehouse, *more: str, at: str = text_of(AT_US)) -> Namespace:
    parser = ArgumentParser()
    add_arguments(parser)
    return parser.parse_args(["--warehouse", warehouse.root, "--at", at, *more])


def objects(capsys: pytest.CaptureFixture[str]) -> dict[str, list[dict[str, Any]]]:
    """What `--json` printed, by table; times as µs."""
    found: dict[str, list[dict[str, Any]]] = {"brokers": [], "topic_backlog": [], "subscription_backlog": []}
    for line in capsys.readouterr().out.splitlines():
        values = json.loads(line)
        table = values.pop("table")
        times = {field.name for field in TABLES_BY_NAME[table].fields if field.type == "timestamp"} if table in TABLES_BY_NAME else set()
        found[table].append({name: micros_of(value) if name in times and value is not None else value for name, value in values.items()})
    return found


def expected_of(events: list[Event], at_us: int = AT_US, until_us: int | None = None) -> dict[str, list[dict[str, Any]]]:
    """What the pure lane says of one broker's epoch, of its events until then (or `until_us`) alone."""
    until = [event for event in events if event["ts"] <= (until_us or at_us)]
    probe = Probe(until[0]["epoch"], SETTINGS)
    probe.offer(lane_rows(until))
    tables = as_tables(probe.at(at_us), until)
    return {
        name: [{column: value for column, value in row.items() if column not in ("check_number", "check_source")} for row in tables[name]]
        for name in ("topic_backlog", "subscription_backlog")
    }


def test_the_command_says_what_the_pure_lane_says_of_the_events_until_then(filled: Warehouse, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments(filled, "--broker", "b:1", "--json")) == 0
    found = objects(capsys)
    expected = expected_of([event for event in two_epochs() if event["epoch"] == SECOND])
    assert [found["topic_backlog"], found["subscription_backlog"]] == [expected["topic_backlog"], expected["subscription_backlog"]]
    assert {row["topic"] for row in found["topic_backlog"]} == {TOPIC}  # the other one is loaded later
    assert found["topic_backlog"][0]["storage_backlog_quota_exceeded_evictions_size"] > 0
    assert found["brokers"] == [{"broker": "b:1", "epoch": SECOND, "last_event": text_of(ms(130) * 1000), "stopped": False}]


def test_a_lost_event_and_a_rejected_line_make_a_broker_incomplete(filled: Warehouse, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments(filled, "--broker", "holed:1", "--json")) == 0
    found = objects(capsys)
    events = [event | {"tombstone": True} if event["seq"] == REJECTED_SEQ else event for event in other_brokers()]
    events = [event for event in events if event["broker"] == "holed:1"]
    assert found["topic_backlog"] == expected_of(events)["topic_backlog"]
    assert [row["complete"] for row in found["topic_backlog"]] == [False]


def test_people_get_a_line_per_broker_and_two_tables(filled: Warehouse, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments(filled)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == [
        f"b:1 at {text_of(AT_US)}: last event until then {text_of(ms(130) * 1000)}",
        f"holed:1 at {text_of(AT_US)}: last event until then {text_of(ms(130) * 1000)}",
        f"{STEPPED} at {text_of(AT_US)}: last event until then {text_of(ms(46) * 1000)}",
        f"{STOPPED} at {text_of(AT_US)}: stopped at {text_of(ms(3) * 1000)}: nothing lives",
    ]
    heads = [number for number, line in enumerate(lines) if line.startswith("broker ")]
    assert len(heads) == 2
    assert [re.split("  +", line)[:2] for line in lines[heads[0] + 2 : heads[1] - 1]] == [
        ["b:1", TOPIC], ["holed:1", TOPIC], [STEPPED, TOPIC], [STEPPED, OTHER]
    ]  # fmt: skip


def test_one_topic_of_those_that_know_it(filled: Warehouse, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments(filled, "--topic", OTHER, "--json", at=text_of(ms(60) * 1000))) == 0
    found = objects(capsys)
    assert [row["broker"] for row in found["brokers"]] == ["b:1", STEPPED]
    assert [row["topic"] for row in found["topic_backlog"]] == [OTHER, OTHER]
    assert [row["subscription"] for row in found["subscription_backlog"]] == ["c9", "c9"]


def test_an_instant_that_a_clock_showed_twice_is_the_later_one(filled: Warehouse, capsys: pytest.CaptureFixture[str]) -> None:
    at_us = ms(45.5) * 1000
    assert run(arguments(filled, "--broker", STEPPED, "--json", at=text_of(at_us))) == 0
    events = stepped_broker()[:-1]  # all but the last came before
    assert objects(capsys)["topic_backlog"] == expected_of(events, at_us, until_us=ms(60) * 1000)["topic_backlog"]


def test_a_probe_writes_nothing_and_needs_no_lock(spark: SparkSession, filled: Warehouse, capsys: pytest.CaptureFixture[str]) -> None:
    def state() -> dict[str, int]:
        return {table.name: DeltaTable(filled.table(table.name)).version() for table in TABLES}

    def files() -> set[str]:
        return {str(path) for path in Path(filled.root).rglob("*")}

    with locked(filled, "a driver that writes"):
        before = state(), files()
        assert run(arguments(filled, "--json")) == 0
        assert (state(), files()) == before
    assert capsys.readouterr().out


@pytest.mark.parametrize(
    ("at", "more", "words"),
    [
        ("yesterday", [], "--at yesterday: expected an ISO 8601 time with its zone"),
        ("2026-11-21T11:30:05", [], "with its zone"),
        ("1999-01-01T00:00:00Z", [], "no event until then, the first event is of 2023-"),
        (text_of(AT_US), ["--broker", "b:2"], "--broker b:2: no event of it until"),
        (text_of(AT_US), ["--topic", "persistent://no/such/topic"], "--topic persistent://no/such/topic: no event of it"),
    ],
)
def test_what_cannot_be_answered_is_one_line(filled: Warehouse, at: str, more: list[str], words: str) -> None:
    with pytest.raises(BadConfig, match=re.escape(words)) as refused:
        run(arguments(filled, *more, at=at))
    assert "\n" not in str(refused.value)


def test_no_warehouse_is_one_line(spark: SparkSession, warehouse: Warehouse) -> None:
    with pytest.raises(BadWarehouse, match="there is no warehouse at"):
        run(arguments(warehouse))
