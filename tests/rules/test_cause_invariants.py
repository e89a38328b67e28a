"""What the cause package relies on so as not to look at everything: after every event of every log, whatever is lost or damaged."""

from typing import Any

import numpy as np
import pytest
from bookkeeper.quota_random import quota_logs
from bookkeeper.random_log import broken, logs
from bookkeeper.random_states import stated
from capture_events import capture_events
from cause_story import Story
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lane_rows import lane_rows
from lane_tables import SETTINGS
from real_captures import CAPTURES, EVERY_CAPTURE
from suite.examples import examples
from test_backlog_state import START_MS, event_rows
from test_causes_against_bookkeeper import brokers

from pipeline.lanes.lane import Lane
from pipeline.rules.array import Array
from pipeline.rules.broker.layout import CURSOR_ROW, NONE, TOPIC_ROW
from pipeline.rules.cause.case import Case
from pipeline.rules.cause.layout import APART, CHAIN_ROW, CHARGE_ROW, NO_CHAIN, NO_CHARGE
from pipeline.rules.cause.rare_events import topic_of
from pipeline.rules.cause.stretch import part_at
from pipeline.rules.cause.watching import may_be_over
from pipeline.rules.cause.window_end import rows_in_window
from pipeline.rules.compiled import compiled
from pipeline.rules.integers import INT64_MAX
from pipeline.rules.model import BrokerModel
from pipeline.rules.records import Record, Records, blank
from schemas.lane_columns import COLUMN


@compiled
def overlooked(charges: Records, cursors: Records) -> int:
    """Subscriptions whose backlog may be over though the next acknowledgement would not look at them."""
    count = 0
    for s in range(len(charges)):
        if may_be_over(charges[s], cursors[s]) and cursors[s].acknowledged < cursors[s].look_at:
            count += 1
    return count


def not_in_window(charges: Records, pace: Record) -> list[int]:
    """Subscriptions with a backlog, or a main cause, that the chain of the window does not have; and what it has twice, or calls apart."""
    rows = np.empty(len(charges) + 1, dtype=np.int64)
    chained = rows[: rows_in_window(charges, pace, rows)].tolist()
    expected = np.flatnonzero((charges["running"] == 1) | (charges["backlog_ns"] > 0) | (charges["main"] != NONE))
    assert sorted(chained) == np.flatnonzero(charges["next_in_window"] != APART).tolist()
    return sorted(set(expected.tolist()) - set(chained))


def grown_unseen(chains: Records, topics: Records) -> list[int]:
    """Topics whose area or scale is not what it was at the border, without a mark."""
    is_base = (chains["area"] == 0) & (chains["base_entries"] == topics["end_entries"])
    return np.flatnonzero((chains["has_grown"] == 0) & ~is_base).tolist()


@compiled
def never_looked_at(broker: Any, cause: Any, subscriptions: int) -> int:
    """Subscriptions out of the chain of looks though another cause holds them by now, or will by time alone. Losses wait for a border."""
    count, settings = 0, broker.settings[0]
    for s in range(subscriptions):
        charge = cause.charges[s]
        if charge.next_to_look != APART or charge.losses != settings.losses:
            continue
        if charge.running == 0:
            count += 1 if charge.holding != NONE or charge.rival_ns > 0 else 0
            continue
        t = topic_of(broker, s)
        case = Case(
            charge, cause.chains[t], s, broker.topics[t], broker.subscriptions[s], broker.cursors[s], broker.readings[s],
            broker.dispatchers[s], settings, cause.pace[0], broker.connectivity[0],
        )  # fmt: skip
        account, until_ns = part_at(case, max(charge.since_ns, charge.voted_ns))
        if account != charge.holding or until_ns != INT64_MAX or charge.rival_ns > 0:
            count += 1
    return count


def chained(charges: Records, pace: Record) -> list[int]:
    """Subscriptions in the chain of looks, in its order."""
    found, s = [], int(pace.first_to_look)
    while s != NONE:
        found.append(s)
        s = int(charges["next_to_look"][s])
    return found


def broken_invariants(state: Any) -> list[str]:
    broker, cause, counts = state.group("broker"), state.group("cause"), state.counts
    charges, cursors = cause.charges[: counts.subscriptions], broker.cursors[: counts.subscriptions]
    assert sorted(chained(charges, cause.pace[0])) == np.flatnonzero(charges["next_to_look"] != APART).tolist()
    return [
        *(["never looked at"] if never_looked_at(broker, cause, counts.subscriptions) else []),
        *(["overlooked"] if overlooked(charges, cursors) else []),
        *(["not in window"] if not_in_window(charges, cause.pace[0]) else []),
        *(["grown unseen"] if grown_unseen(cause.chains[: counts.topics], broker.topics[: counts.topics]) else []),
    ]


def assert_invariants(rows: Array, slice_rows: int) -> None:
    """After each slice of so many events."""
    lane = Lane(SETTINGS)
    for start in range(0, len(rows), slice_rows):
        lane.offer(rows[start : start + slice_rows])
        lane.finish()
        for epoch in lane.epochs.values():
            if epoch.time is not None:
                assert broken_invariants(epoch.time.model.state) == [], f"after {start + slice_rows} events"


def test_what_breaks_a_invariant_is_found() -> None:
    charges = NO_CHARGE.copy()
    charges["running"], charges["backlog_seen"] = 1, 3
    assert [overlooked(charges, blank(CURSOR_ROW, acknowledged=3, look_at=seen)) for seen in (3, 4)] == [0, 1]
    assert overlooked(charges, blank(CURSOR_ROW, acknowledged=2, look_at=3)) == 0
    pace = Lane(SETTINGS).new_time(1, BrokerModel()).model.state.group("cause").pace[0]
    assert not_in_window(charges, pace) == [0]
    pace.first_in_window, charges["next_in_window"] = 0, NONE
    assert not_in_window(charges, pace) == []
    assert grown_unseen(NO_CHAIN, blank(TOPIC_ROW, end_entries=1)) == [0]
    assert grown_unseen(blank(CHAIN_ROW, has_grown=1), blank(TOPIC_ROW, end_entries=1)) == []
    assert grown_unseen(blank(CHAIN_ROW, area=1), blank(TOPIC_ROW)) == [0]


def test_entries_that_expired_need_no_acknowledgement_to_end_a_backlog() -> None:
    """Four wait; two expire and two are acknowledged. The cause is the same all the time."""
    story = Story(consumer=False).puts(4)
    story.at(1).of_sub("mark_delete", ledger=5, entry=1, persisted=False)
    assert_invariants(lane_rows(story.at(2).acks(2, 3).beats(5).events), 1)


def test_the_end_of_a_window_does_not_look_at_idle_subscriptions() -> None:
    """A thousand topics with one each; something arrives for three of them."""
    opened = event_rows("cursor_open", 1_000, 1, np.full(1_000, START_MS), ledger=1, entry=-1, durable=1)
    arrived = event_rows("publish", 3, 1_001, np.full(3, START_MS), ledger=1, entry=0, msgs=1, bytes=1)
    opened[:, COLUMN["topic_id"]], arrived[:, COLUMN["topic_id"]] = 1 + np.arange(1_000), (5, 7, 900)
    model = BrokerModel()
    model.fold(np.concatenate((opened, arrived)))
    cause = model.state.group("cause")
    rows = np.empty(1_000, dtype=np.int64)
    assert sorted(rows[: rows_in_window(cause.charges, cause.pace[0], rows)].tolist()) == [4, 6, 899]


@pytest.mark.parametrize(("until_s", "chained"), [(50, 1), (130, 1), (190, 0)], ids=["its window", "its run's", "after that"])
def test_a_subscription_leaves_the_window_when_its_backlog_and_its_main_cause_are_over(until_s: int, chained: int) -> None:
    story = Story(consumer=False).puts(1)
    lane = Lane(SETTINGS)
    lane.offer(lane_rows(story.at(20).acks(0).beats(*(second for second in (50, 70, 130, 190) if second <= until_s)).events))
    lane.finish()
    (epoch,) = lane.epochs.values()
    assert epoch.time is not None
    cause = epoch.time.model.state.group("cause")
    assert rows_in_window(cause.charges, cause.pace[0], np.empty(1, dtype=np.int64)) == chained


def test_what_is_read_together_lies_in_one_line_of_the_cache() -> None:
    first_of_lines = ("running", "backlog_seen", "blocked", "since_ns", "progress_ns", "repeated_ns")
    assert [CHARGE_ROW.fields[name][1] for name in first_of_lines] == [0, 64, 128, 192, 256, 320]
    assert CHARGE_ROW.itemsize % 64 == 0


@settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.one_of(logs(), broken(logs()), quota_logs(), stated(logs()), stated(brokers().map(lambda broker: broker.events))))
def test_invariants_hold_whatever_is_lost_or_damaged(events: list[dict[str, object]]) -> None:
    if events:
        assert_invariants(lane_rows(events), 1)


@pytest.mark.captures
@EVERY_CAPTURE
def test_invariants_hold_on_real_logs(name: str) -> None:
    assert_invariants(lane_rows(capture_events(CAPTURES / name, until_as_of=False)), 97)
