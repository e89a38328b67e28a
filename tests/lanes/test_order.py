"""A lane gives the same tables however its log was cut, shuffled, repeated or restarted; and nothing vanishes."""

import random
from typing import Any

import numpy as np
import pytest
from busy_log import busy_log, cut, without
from hypothesis import example, given, settings
from hypothesis import strategies as st
from lane_rows import lane_rows
from lane_tables import SETTINGS, as_tables, drain_row, run_lane, tables_of
from log_builder import EPOCH, START_TS_US, Log
from suite.examples import examples

from pipeline.lanes.lane import Lane, LaneTiming
from pipeline.rules.outcome import Rows
from schemas.outcomes import LANE_REPORT, LANE_REPORT_REPEATS


@pytest.mark.parametrize("seed", range(50))
def test_tables_do_not_depend_on_how_the_log_was_cut(seed: int) -> None:
    rng = random.Random(seed)
    events = busy_log()
    outcomes, counts = run_lane([*cut(events, rng, rng.randint(2, 12)), [drain_row()]], restart=bool(seed % 2))
    assert tables_of(events) == as_tables(outcomes, events), f"repeat: pytest {__file__} -k 'cut and {seed}'"
    assert counts["applied"] == len(events)
    assert balance(counts) == 0


def without_checks(steps: list[tuple[str, str, float]]) -> list[dict[str, Any]]:
    """A log without quota checks: each step is an event type, a topic, and how long after the one before it comes."""
    log, seconds = Log().add("broker_start", cluster="c", version="4.0.8", settings={}), 0.0
    for producer, (kind, topic, later_s) in enumerate(steps):
        seconds += later_s
        rest = {"producer_open": {"producer": producer, "conn": 1}, "heartbeat": {"dropped": 0}}.get(kind, {})
        log.at(seconds).add(kind, **rest, **({} if kind == "heartbeat" else {"topic": topic}))
    return log.events


A_GOES_AND_COMES = [
    ("topic_load", "A", 0), ("topic_unload", "A", 61), ("topic_load", "B", 0), ("heartbeat", "", 61), ("producer_open", "A", 0),
    ("topic_load", "A", 0), ("heartbeat", "", 60), ("heartbeat", "", 61),
]  # fmt: skip
kinds_of_steps = st.sampled_from(["topic_load", "topic_load", "topic_unload", "producer_open", "heartbeat"])
steps_of_topics = st.lists(st.tuples(kinds_of_steps, st.sampled_from("ABCD"), st.sampled_from([0, 5, 61])), min_size=2, max_size=12)


@settings(max_examples=examples(60), deadline=None)
@given(steps_of_topics, st.integers(1, 100))
@example(A_GOES_AND_COMES, 4)
def test_checks_have_the_same_numbers_wherever_the_log_was_cut(steps: list[tuple[str, str, float]], where: int) -> None:
    """A lane that was saved has forgotten topics that are gone: when they come back they lie in other rows."""
    events = without_checks([*steps, ("heartbeat", "", 61), ("heartbeat", "", 130)])
    at = 1 + where % (len(events) - 1)
    for restart in (True, False):
        outcomes, _ = run_lane([[lane_rows(events[:at], 0)], [lane_rows(events[at:], 1)], [drain_row()]], restart=restart)
        assert as_tables(outcomes, events) == tables_of(events)


def balance(counts: dict[str, int]) -> int:
    """in − (applied + duplicates + late + quarantined + held)."""
    return counts["rows_in"] - sum(counts[name] for name in ("applied", "duplicates", "late", "quarantined", "held"))


def test_epochs_may_come_in_any_order() -> None:
    first, second = busy_log(EPOCH, 30), busy_log(EPOCH + 60_000, 30)
    one_way, counts = run_lane([[lane_rows(first, 0)], [lane_rows(second, 1)], [lane_rows(second[:1], 9)], [drain_row()]])
    other_way, _ = run_lane([[lane_rows(second, 0)], [lane_rows(first, 5)], [drain_row()]], restart=True)
    tables = as_tables(one_way, first)
    assert tables == as_tables(other_way, first)
    last = max((row for row in tables["subscription_throttle"] if row["epoch"] == EPOCH), key=lambda row: row["window_start"])
    assert last["closed_at"] == first[-1]["ts"], "a newer epoch that is old enough ends the older one"
    assert balance(counts) == 0


def test_a_gap_is_held_until_complete_later_ingest_batches_are_lateness_past_it() -> None:
    events = busy_log(seconds=40)
    early, late = without(events[:100], 50), events[100:]
    _, counts = run_lane([[lane_rows(early, 0)], [lane_rows(late, 1)]])
    assert (counts["applied"], counts["held"], counts["lost"]) == (49, len(events) - 50, 0), "batch 1 may not be complete"
    _, counts = run_lane([[lane_rows(early, 0)], [lane_rows(late[:-1], 1)], [lane_rows(late[-1:], 2)]])
    assert (counts["held"], counts["lost"], counts["applied"]) == (0, 1, len(events) - 1)
    _, counts = run_lane([[lane_rows(early, 0)], [lane_rows(late[:-1], 1)], [lane_rows([events[49], late[-1]], 2)]])
    assert (counts["lost"], counts["applied"]) == (0, len(events)), "it came with the batch that would have given it up"


@pytest.mark.parametrize("drained_at_once", [True, False])
def test_what_fills_a_gap_lets_go_what_is_held_behind_it(drained_at_once: bool) -> None:
    """It comes alone, as the last of the log: a file that was late, a line that `quarantine replay` put back."""
    events = busy_log(seconds=40)
    fills, drain = lane_rows([events[49]], 1), drain_row()
    ends = [[fills, drain]] if drained_at_once else [[fills], [drain]]
    outcomes, counts = run_lane([[lane_rows(without(events, 50), 0)], *ends], restart=True)
    assert as_tables(outcomes, events) == tables_of(events)
    assert (counts["applied"], counts["held"], counts["lost"]) == (len(events), 0, 0)
    assert balance(counts) == 0


def test_lost_events_are_told_and_what_comes_for_them_is_late_once() -> None:
    events = busy_log(seconds=90)
    batches = [[lane_rows(without(events, 60, 61, 400), 0)], [drain_row()], [lane_rows([events[60], events[60], events[10]], 1)]]
    outcomes, counts = run_lane(batches, restart=True)
    tables = as_tables(outcomes, events)
    assert [(gap["from_seq"], gap["to_seq"], gap["events"]) for gap in tables["log_gaps"]] == [(60, 61, 2), (400, 400, 1)]
    assert [(late["seq"], late["reason"]) for late in tables["late_events"]] == [(61, "given_up")]
    assert (counts["lost"], counts["late"], counts["duplicates"]) == (3, 1, 2)
    assert balance(counts) == 0
    assert all(row["completeness"] < 1 for row in tables["subscription_throttle"] if row["window_start"] == START_TS_US)


def test_what_comes_for_a_drained_epoch_is_late() -> None:
    events = busy_log(seconds=5)
    outcomes, counts = run_lane([[lane_rows(events[:-3])], [drain_row()], [lane_rows(events[-4:], 1)]], restart=True)
    late = as_tables(outcomes, events)["late_events"]
    assert [row["reason"] for row in late] == ["epoch_over"] * 3
    assert (counts["late"], counts["duplicates"]) == (3, 1)


def test_a_tombstone_keeps_its_place_and_makes_its_window_incomplete() -> None:
    events = busy_log(seconds=20)
    damaged = [{**e, "tombstone": True} if e["seq"] == 33 else e for e in events]
    outcomes, counts = run_lane([[lane_rows(damaged)], [drain_row()], [lane_rows([events[32]], 1)]])
    tables = as_tables(outcomes, events)
    assert tables["log_gaps"] == []
    assert [row["reason"] for row in tables["late_events"]] == ["quarantined"]
    assert (counts["quarantined"], counts["held"], counts["late"]) == (1, 0, 1)
    assert {False} == {row["complete"] for row in tables["subscription_throttle"]}
    assert {(len(events) - 1) / len(events)} == {row["completeness"] for row in tables["subscription_throttle"]}


@pytest.mark.parametrize("seed", range(10))
def test_of_two_logs_of_one_epoch_the_one_that_arrived_first_counts_as_a_whole(seed: int) -> None:
    """Also in one ingest batch, however the rows of both come: none of the tables mixes them."""
    rng = random.Random(seed)
    first, second = busy_log(seconds=20), busy_log(seconds=20)
    for event in second:
        event["ts"] += 7
        event["arrival"] = 1 << 40
    rows = [lane_rows([event]) for event in [*first, *second]]
    rng.shuffle(rows)
    outcomes, counts = run_lane([[np.concatenate(rows)], [drain_row()]])
    assert as_tables(outcomes, first) == tables_of(first), f"repeat: pytest {__file__} -k 'two_logs and {seed}'"
    assert (counts["applied"], counts["duplicates"]) == (len(first), len(second))
    assert balance(counts) == 0


def test_a_lane_reports_the_bounds_of_what_it_left_out() -> None:
    events, epoch = busy_log(seconds=20), busy_log(EPOCH + 60_000, 20)
    lane = Lane(SETTINGS)
    lane.offer(lane_rows([*events, *epoch]))
    assert bounds(lane.finish()) == (0, 0, 0, 0)
    lane.offer(lane_rows([*events[30:40], epoch[9], *events[20:22]], 1))
    assert bounds(lane.finish()) == (EPOCH, EPOCH + 60_000, 10, 40)
    lane.offer(lane_rows(events[5:6], 2))
    assert bounds(lane.finish()) == (EPOCH, EPOCH, 6, 6)


def bounds(outcomes: list[Rows]) -> tuple[Any, ...]:
    """Epochs and seq of repeats, as the lane's report has them."""
    (report,) = (rows for rows in outcomes if rows.table == LANE_REPORT)
    return tuple(report.columns[name] for name in LANE_REPORT_REPEATS)


def test_of_a_damaged_and_a_sound_copy_the_sound_one_counts() -> None:
    events = busy_log(seconds=5)
    both = [*events, {**events[20], "tombstone": True}]
    outcomes, counts = run_lane([[lane_rows(both)], [drain_row()]])
    assert tables_of(events) == as_tables(outcomes, events)
    assert (counts["quarantined"], counts["duplicates"]) == (0, 1)


def test_a_clock_set_back_closes_the_window_and_loses_nothing() -> None:
    events = busy_log(seconds=100)
    for event in events[300:]:
        event["ts"] -= 45_000_000
    tables = tables_of(events)
    (step,) = tables["log_gaps"]
    assert (step["kind"], step["step_us"]) == ("clock_step", -45_000_000)
    reads = sum(row["reads"] for row in tables["subscription_throttle"])
    assert reads == sum(1 for event in events if event["type"] == "read")
    segments = {(row["window_start"], row["clock_segment"]) for row in tables["subscription_throttle"]}
    assert len({start for start, _ in segments}) < len(segments)


def set_back_without_ns(hour_us: int = 3_600_000_000, at: int = 300) -> list[dict[str, Any]]:
    """A log without `ns` whose wall clock is set back by an hour."""
    events = [{name: value for name, value in event.items() if name != "ns"} for event in busy_log(seconds=100)]
    for event in events[at:]:
        event["ts"] -= hour_us
    return events


def test_without_ns_a_clock_set_back_is_a_step_and_the_monotonic_clock_goes_on() -> None:
    """The event at the step comes no time after the one before it: of the time between two events nothing is known without `ns`."""
    events = set_back_without_ns()
    before, after = events[299]["ts"], events[300]["ts"]
    with_ns = [{**event, "ns": (event["ts"] + (before - after if event["seq"] > 300 else 0)) * 1000} for event in events]
    tables = tables_of(events)
    assert [(gap["kind"], gap["step_us"], gap["from_seq"]) for gap in tables["log_gaps"]] == [("clock_step", after - before, 301)]
    assert {row["clock_segment"] for row in tables["subscription_throttle"]} == {0, 1}
    assert tables == tables_of(with_ns)


@pytest.mark.parametrize("seed", range(10))
def test_without_ns_tables_do_not_depend_on_how_the_log_was_cut(seed: int) -> None:
    rng = random.Random(seed)
    events = set_back_without_ns()
    for event in events[500:]:
        event["ts"] -= 5_000_000  # set back once more
    outcomes, _ = run_lane([*cut(events, rng, rng.randint(2, 12)), [drain_row()]], restart=bool(seed % 2))
    tables = tables_of(events)
    assert [gap["kind"] for gap in tables["log_gaps"]] == ["clock_step"] * 2
    assert tables == as_tables(outcomes, events), f"repeat: pytest {__file__} -k 'without_ns and {seed}'"


def test_without_ns_a_ts_a_little_behind_is_no_step() -> None:
    events = set_back_without_ns(hour_us=0)
    events[300]["ts"] = events[299]["ts"] - SETTINGS.clock_step_ms * 1000
    assert tables_of(events)["log_gaps"] == []


def test_without_ns_a_gap_is_given_up_as_soon_after_a_clock_set_back() -> None:
    events = set_back_without_ns(at=60)
    early, late = without(events[:100], 50), events[100:]
    _, counts = run_lane([[lane_rows(early, 0)], [lane_rows(late[:-1], 1)], [lane_rows(late[-1:], 2)]])
    assert (counts["held"], counts["lost"], counts["applied"]) == (0, 1, len(events) - 1)


def test_an_epoch_met_in_mid_life_counts_its_beginning_as_lost() -> None:
    tables = tables_of(busy_log(seconds=30)[50:])
    assert [(gap["from_seq"], gap["to_seq"]) for gap in tables["log_gaps"]] == [(1, 50)]
    assert tables["log_gaps"][0]["ts_before"] is None
    assert {False} == {row["complete"] for row in tables["subscription_throttle"]}


def test_nothing_follows_a_broker_stop() -> None:
    log = Log().start().read(sub=(5, -1)).add("broker_stop").add("heartbeat", dropped=0)
    outcomes, _ = run_lane([[lane_rows(log.events)]])
    tables = as_tables(outcomes, log.events)
    (row,) = tables["subscription_throttle"]
    assert row["closed_at"] == log.events[-2]["ts"]
    assert [late["reason"] for late in tables["late_events"]] == ["epoch_over"]


def test_half_a_million_rows_backwards_are_sorted() -> None:
    rows = lane_rows(busy_log(seconds=150))
    many = np.concatenate([rows] * 200)
    many[:, 1] = np.arange(1, len(many) + 1)
    settings = LaneTiming(10_000, SETTINGS.window_ms, 10**9)
    _, counts = run_lane([np.array_split(many[::-1], 40)], settings=settings)
    assert (counts["applied"], counts["held"]) == (len(many), 0)
