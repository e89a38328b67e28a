"""The channel package and the independent bookkeeper of channels agree on every row: golden cases, random logs, real logs."""

from typing import Any

import pytest
from bookkeeper.channel_cases import CASES, LIMITER_CASES, Case, LimiterCase
from bookkeeper.channel_random import channel_logs
from bookkeeper.channels import GRAINS, keep_channels
from bookkeeper.random_log import broken
from capture_events import capture_events
from hypothesis import HealthCheck, given, settings
from lane_tables import Table, tables_of
from log_builder import Log
from real_captures import CAPTURES, EVERY_CAPTURE
from suite.examples import examples

from pipeline.rules.channel.layout import CHANNEL_ROW
from pipeline.rules.channel.limiter import acquire
from pipeline.rules.records import empty_rows

Events = list[dict[str, Any]]
EXAMPLES = settings(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def tables_of_channels(events: Events) -> dict[str, Table]:
    """The lane's tables of channels, and what `subscription_throttle` counts of unwritable channels, where it counts any."""
    tables = tables_of(events)
    reads = [row for row in tables["subscription_throttle"] if row["reads_by_unwritable_channel"]]
    return {**tables, "unwritable_reads": reads}


def disagreements(events: Events) -> list[str]:
    """Every row that only one of both has, and every column in which a row of both differs."""
    ours, books = tables_of_channels(events), keep_channels(events)
    found = []
    for table, grain in GRAINS.items():
        mine = {tuple(row[name] for name in grain): row for row in ours[table]}
        theirs = {tuple(row[name] for name in grain): row for row in getattr(books, table)}
        found += [f"{table}: only in {'lane' if key in mine else 'books'}: {key}" for key in mine.keys() ^ theirs.keys()]
        for key in mine.keys() & theirs.keys():
            shared = mine[key].keys() & theirs[key].keys()
            found += [
                f"{table} {key} {column}: lane {mine[key][column]}, books {theirs[key][column]}"
                for column in sorted(shared)
                if mine[key][column] != theirs[key][column]
            ]
    return found


@pytest.mark.parametrize("case", LIMITER_CASES, ids=[case.id for case in LIMITER_CASES])
def test_the_limiter_of_a_golden_case(case: LimiterCase) -> None:
    limiter = empty_rows(CHANNEL_ROW, 1)[0]
    limiter.remaining = case.permits
    for now_ms, step, *numbers in case.steps:
        if step == "open":
            limiter.close_at_ms = now_ms + numbers[0] if numbers[0] > 0 else 0
            continue
        wanted, granted, remaining = numbers
        assert acquire(limiter, case.permits, case.period_ms, wanted, now_ms) == granted
        assert remaining in (None, limiter.remaining)


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_golden_case(case: Case) -> None:
    tables = tables_of_channels(case.events)
    rows = sorted(tables["channel_backpressure"], key=lambda row: (row["conn"], row["window_start"]))
    assert [{name: row[name] for name in wanted} for row, wanted in zip(rows, case.rows, strict=True)] == case.rows
    assert disagreements(case.events) == []


def full_channel(log: Log) -> Log:
    """Two connections, of which the first is unwritable and holds nothing."""
    log.add("conn_open", conn=1).add("conn_open", conn=2)
    return log.add("writability", conn=1, writable=False, pending_bytes=0)


@pytest.mark.parametrize(("started", "at_least"), [(True, 1), (False, 0)], ids=["whole", "the start is lost"])
def test_what_all_channels_hold_bounds_one_if_the_mark_is_known(started: bool, at_least: int) -> None:
    log = full_channel(Log().add("broker_start", cluster="c", version="4.0.8", settings={}))
    events = log.add("heartbeat", dropped=0, pending_bytes=65_537).at(1).add("heartbeat", dropped=0).events[0 if started else 1 :]
    rows = tables_of_channels(events)["channel_backpressure"]
    assert [row["pending_bytes_at_least"] for row in rows if row["conn"] == 1] == [at_least]
    assert disagreements(events) == []


def test_a_producer_that_ends_is_the_one_of_that_id_whatever_topic_the_event_names() -> None:
    pauses = {"pulsarChannelPauseReceivingRequestsIfUnwritable": "true"}
    log = full_channel(Log().add("broker_start", cluster="c", version="4.0.8", settings=pauses))
    log.add("producer_open", conn=1, producer=0, topic="persistent://a/b/c").at(1)
    log.add("producer_close", conn=1, producer=0, topic="persistent://a/b/d").at(2).add("heartbeat", dropped=0)
    paused = tables_of_channels(log.events)["topic_publish_pauses"]
    assert [(row["topic"], row["producers_paused_ns"]) for row in paused] == [("persistent://a/b/c", 1_000_000_000)]
    assert disagreements(log.events) == []


@EXAMPLES
@given(channel_logs())
def test_random_log(events: Events) -> None:
    assert disagreements(events) == []


@EXAMPLES
@given(broken(channel_logs()))
def test_random_log_with_damage(events: Events) -> None:
    assert not events or disagreements(events) == []


@pytest.mark.captures
@EVERY_CAPTURE
def test_real_log(name: str) -> None:
    assert disagreements(capture_events(CAPTURES / name, until_as_of=False)) == []


@pytest.mark.captures
@pytest.mark.parametrize("name", ["o_unwritable", "y_incident", "p1_batches"])
def test_real_log_without_throttle_events(name: str) -> None:
    """The rules alone, and with gaps where those events were."""
    events = [event for event in capture_events(CAPTURES / name) if event["type"] != "throttle"]
    assert disagreements(events) == []
    assert disagreements([event | {"seq": seq} for seq, event in enumerate(events, start=1)]) == []
