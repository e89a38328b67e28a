"""A state does not depend on where it was saved: a snapshot, which a backfill plants, equals a state that nobody saved."""

from typing import Any

import numpy as np
import pytest
from bookkeeper.books import Books, one_life
from bookkeeper.channel_random import channel_logs
from bookkeeper.quota_random import quota_logs
from bookkeeper.random_log import broken, logs
from bookkeeper.random_states import stated
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lane_rows import lane_rows
from log_builder import EPOCH, START_NS, START_TS_US, SUB, TOPIC, Log
from suite.examples import examples
from test_causes_against_bookkeeper import brokers

from pipeline.rules.array import Array
from pipeline.rules.broker.layout import NONE
from pipeline.rules.cause.layout import CHARGE_ROW, NO_CHARGE
from pipeline.rules.cause.rare_events import forget_cursor
from pipeline.rules.compiled import compiled
from pipeline.rules.model import BrokerModel
from pipeline.rules.outcome import Window
from pipeline.rules.records import Records

Events = list[dict[str, Any]]
EXAMPLES = settings(max_examples=examples(80), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
LOGS = {
    "limits": logs(),
    "damaged limits": broken(logs()),
    "quotas": quota_logs(),
    "channels": channel_logs(),
    "causes": brokers().map(lambda broker: broker.events),
    "states": stated(brokers().map(lambda broker: broker.events)),
    "states and limits": stated(logs()),
}
#: What belongs to the open window and to the run of main causes stays when a cursor ends, and in which chains it is.
OF_THE_WINDOW = {
    *("running", "next_in_chain", "next_in_window", "backlog_ns", "backlog_end", "waiting_end", "incomplete", "charged", "first_at"),
    *("main", "main_since", "main_window_end"),
    *("holding", "rival", "rival_ns", "rival_since", "voted_ns", "next_to_look", "padding"),
}
OF_THE_STRETCH = {"since_ns", "since_us", "since_ts", "backlog_since_ns"}


def differ_when_cut(rows: Array, at: int) -> list[str]:
    """Arrays of the state that are others if it was saved before event `at`. `rows`: of one epoch."""
    whole, cut = BrokerModel(), BrokerModel()
    whole.fold(rows)
    cut.fold(rows[:at])
    cut = BrokerModel(cut.arrays())
    cut.fold(rows[at:])
    ours, theirs = whole.ordered_arrays(), cut.ordered_arrays()
    assert ours.keys() == theirs.keys()
    return [name for name in ours if not np.array_equal(ours[name], theirs[name])]


@compiled
def forget(charges: Records) -> None:
    forget_cursor(charges[0])


@pytest.mark.parametrize("about", LOGS)
@EXAMPLES
@given(st.data())
def test_a_state_does_not_depend_on_cuts(about: str, data: st.DataObject) -> None:
    """Equal states have equal arrays, in whatever pieces the events came."""
    events: Events = data.draw(LOGS[about])
    first = one_life([event for event in events if event["epoch"] == events[0]["epoch"]], Books()) if events else []
    assert differ_when_cut(lane_rows(first), data.draw(st.integers(0, len(first)))) == []


def test_a_topic_that_ended_leaves_nothing_whether_or_not_the_state_was_saved_since() -> None:
    """A row that nobody keeps is dropped when a state is saved: its chain must be worth as much as a new one."""
    log = Log().add("broker_start", cluster="c", version="4.0.8", settings={}).add("conn_open", conn=1)
    log.add("producer_open", conn=1, producer=0, topic=TOPIC).at(4).add("topic_unload", topic=TOPIC)
    ended = len(log.events)
    rows = lane_rows(log.at(6).add("producer_open", conn=1, producer=0, topic=TOPIC).events)
    assert differ_when_cut(rows, ended) == []


@pytest.mark.parametrize("late", [(), ("dispatcher_close",), ("consumer_open", "consumer_close")], ids=str)
def test_a_cursor_that_ended_leaves_nothing_nor_do_threads_that_write_of_it_later(late: tuple[str, ...]) -> None:
    log = Log().add("broker_start", cluster="c", version="4.0.8", settings={}).add("conn_open", conn=1)
    log.add("consumer_open", conn=1, consumer=1, topic=TOPIC, sub=SUB).at(1).add("topic_load", topic=TOPIC)
    for event_type in late:
        log.add(event_type, topic=TOPIC, sub=SUB, **({} if event_type == "dispatcher_close" else {"conn": 1, "consumer": 1}))
    ended = len(log.events)
    rows = lane_rows(log.at(2).read().events)
    assert differ_when_cut(rows, ended) == []


def test_a_load_forgets_who_is_gone() -> None:
    """Also that something was lost before: the row is dropped when a state is saved after the load, where nothing is known of it."""
    log = Log().add("broker_start", cluster="c", version="4.0.8", settings={})
    log.events.append({**log.events[-1], "seq": 2, "tombstone": True})
    log.add("cursor_close", topic=TOPIC, sub=SUB).at(1).add("topic_load", topic=TOPIC)
    loaded = len(log.events)
    assert differ_when_cut(lane_rows(log.at(2).read().events), loaded) == []


def closed(model: BrokerModel, minute: int) -> BrokerModel:
    """After the window of that minute of a Log, saved and restored."""
    start_us = START_TS_US + 60_000_000 * minute
    border_ns = START_NS + 60 * 10**9 * (minute + 1)
    for _ in model.close_window(
        Window(EPOCH, start_us, start_us + 60_000_000, 0, border_ns, applied=1, missing=0, border_seq=100, last_us=start_us)
    ):
        pass
    return model


@pytest.mark.parametrize("comes_back", ["by its opening", "unseen"])
def test_a_backlog_and_a_main_cause_that_are_over_leave_nothing_when_their_windows_are_closed(comes_back: str) -> None:
    """Two windows with a backlog, two without, the last one so late that nobody keeps that the cursor is gone; then it comes back."""
    log = Log().start().publish(3).at(70).add("topic_unload", topic=TOPIC)
    before = lane_rows(log.events)
    if comes_back == "unseen":
        log.at(900).add("consumer_open", topic=TOPIC, sub=SUB, consumer=1, conn=1)
    else:
        log.at(900).add("topic_load", topic=TOPIC).add("cursor_open", topic=TOPIC, sub=SUB, durable=True, ledger=5, entry=-1)
    after = lane_rows(log.events)[len(before) :]
    states = []
    for is_saved in (False, True):
        model = BrokerModel()
        model.fold(before[:-1])
        closed(model, 0).fold(before[-1:])
        for minute in (1, 2, 12):
            closed(model, minute)
        model = BrokerModel(model.arrays()) if is_saved else model
        model.fold(after)
        states.append(model.ordered_arrays()["charges"])
    assert np.array_equal(*states)


def test_of_a_cursor_that_ended_nothing_is_known_but_what_was_charged() -> None:
    charges = NO_CHARGE.copy()
    for number, name in enumerate(CHARGE_ROW.names or (), start=1):
        charges[name] = number
    before = charges.copy()
    forget(charges)
    kept = {name for name in before.dtype.names or () if np.array_equal(charges[name], before[name])}
    forgotten = {name for name in before.dtype.names or () if np.array_equal(charges[name], NO_CHARGE[name])}
    assert (kept, forgotten) == (OF_THE_WINDOW | OF_THE_STRETCH, set(before.dtype.names or ()) - OF_THE_WINDOW - OF_THE_STRETCH)
    charges["backlog_ns"], charges["main"] = 0, NONE
    forget(charges)
    assert all((charges[name] == 0).all() for name in OF_THE_STRETCH)
