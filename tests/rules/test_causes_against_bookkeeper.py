"""The cause rules and a broker that knows the causes of its own backlogs say the same of every log; charges add up on every log."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest
from bookkeeper.cause_books import Event
from bookkeeper.cause_broker import CauseBroker
from bookkeeper.cause_themes import THEMES, broker_about
from bookkeeper.quota_random import quota_logs
from bookkeeper.random_log import broken, logs
from capture_events import capture_events
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lane_rows import lane_rows
from lane_tables import as_tables, drain_row, run_lane, tables_of
from real_captures import CAPTURES, EVERY_CAPTURE
from suite.examples import examples

WAITS_US = (0, 0, 1, 300, 1_000, 20_000, 700_000, 2_000_000, 6_000_000, 59_000_000)
BLOCKED = (None, None, None, ("sub", "msg"), ("topic", "bytes"), ("broker", "msg"))
SUBS = 2

_sub = st.integers(0, SUBS - 1)
_few = st.integers(1, 4)


def _action() -> st.SearchStrategy[tuple[Any, ...]]:
    """What most rules are about is drawn more often."""
    read = st.tuples(st.just("read"), _sub, st.sampled_from((1, 4, 99)), st.sampled_from(BLOCKED))
    deliver = st.tuples(st.just("deliver"), _sub, st.sampled_from((1, 2, 99)))
    publish = st.tuples(st.just("publish"), _few)
    return st.one_of(
        *(publish, read, deliver, publish, read, deliver),
        st.tuples(st.just("acknowledge"), _sub, _few, st.integers(0, 2)),
        st.tuples(st.just("acknowledge"), _sub, st.just(99), st.just(0)),
        st.tuples(st.just("acknowledge_all_to"), _sub, st.integers(0, 2)),
        st.tuples(st.just("come"), _sub),
        st.tuples(st.just("leave"), _sub),
        st.tuples(st.just("grant"), _sub, _few),
        st.tuples(st.just("answer"), _sub, st.sampled_from(("entries", "nothing", "replay", "failure"))),
        st.tuples(st.just("answer"), _sub, st.just("nothing")),
        st.tuples(st.just("transact"), st.sampled_from(("publish", "publish", "ack", "commit", "abort"))),
        st.tuples(st.just("evict"), _sub, _few),
        st.tuples(st.just("seek"), _sub, st.integers(0, 12)),
        st.tuples(st.just("give_back"), _sub, _few),
        st.tuples(st.just("hold"), _sub, st.integers(0, 4)),
        st.tuples(st.just("cap"), _sub, st.sampled_from(("subscription", "broker")), st.booleans()),
        st.tuples(st.just("cap_consumer"), _sub, st.booleans()),
        st.tuples(st.just("fill"), _sub, st.integers(0, 1), st.booleans()),
    )


@st.composite
def brokers(draw: st.DrawFn) -> CauseBroker:
    """A broker after some actions, of either version of the log; often its normal turnaround is known."""
    version = draw(st.sampled_from(("1.1", None)))
    types = tuple(draw(st.lists(st.sampled_from(("Shared", "Exclusive", "Failover", "Key_Shared")), min_size=SUBS, max_size=SUBS)))
    broker = CauseBroker(version, types)
    broker.come(0)
    for _ in range(draw(st.sampled_from((0, 17)))):
        broker.publish(1)
        broker.read(0, 9, None)
        broker.wait(draw(st.integers(1, 3)) * 500)
        broker.deliver(0, 1)
        broker.acknowledge(0, 1, 0)
    for wait_us, action in draw(st.lists(st.tuples(st.sampled_from(WAITS_US), _action()), max_size=40)):
        broker.wait(wait_us)
        getattr(broker, action[0])(*action[1:])
    broker.wait(draw(st.sampled_from(WAITS_US)))
    broker.beat()
    return broker


#: Stretches may be split at borders of windows this far away from them: where their beginnings have parts of a µs.
NEAR_NS = 50_000


def is_near(found: Mapping[Any, Counter[Any]], expected: Mapping[Any, Counter[Any]]) -> bool:
    """Whether each cause of each window has the same time, but for what falls on another side of a border."""
    cells = {(key, cause) for whole in (found, expected) for key, causes in whole.items() for cause in causes}
    empty: Counter[Any] = Counter()
    return all(abs(found.get(key, empty)[cause] - expected.get(key, empty)[cause]) <= NEAR_NS for key, cause in cells)


def charged(events: list[Event]) -> dict[tuple[str, int], Counter[Any]]:
    found: dict[tuple[str, int], Counter[Any]] = {}
    for row in tables_of(events)["subscription_causes"]:
        cause = tuple(row[name] for name in ("cause", "level", "dimension", "unknown_reason", "cap"))
        found.setdefault((row["subscription"], row["window_start"]), Counter())[cause] += row["ns"]
    return found


@settings(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(brokers())
def test_every_nanosecond_goes_to_the_cause_that_the_broker_knows(broker: CauseBroker) -> None:
    assert charged(broker.events) == {key: causes for key, causes in broker.charged.items() if causes}


@pytest.mark.parametrize("theme", THEMES)
@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 2**32))
def test_long_lives_with_one_kind_of_trouble_are_charged_to_what_the_broker_knows(theme: str, seed: int) -> None:
    broker = broker_about(theme, seed)
    assert is_near(charged(broker.events), broker.charged)


def assert_sums(events: list[Event]) -> None:
    """Charges of a window are its backlog time, and it has one main cause."""
    sums: dict[Any, list[int]] = {}
    for row in tables_of(events)["subscription_causes"]:
        key = tuple(row[name] for name in ("epoch", "topic", "subscription", "window_start", "clock_segment"))
        found = sums.setdefault(key, [0, row["backlog_ns"], 0])
        assert found[1] == row["backlog_ns"]
        found[0] += row["ns"]
        found[2] += row["is_main"]
    assert [key for key, (ns, backlog_ns, mains) in sums.items() if ns != backlog_ns or mains != 1] == []


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.one_of(logs(), broken(logs()), quota_logs()))
def test_charges_add_up_to_the_backlog_time_whatever_is_lost_or_damaged(events: list[Event]) -> None:
    if events:
        assert_sums(events)


@pytest.mark.captures
@EVERY_CAPTURE
@pytest.mark.parametrize("modulus", [0, 97], ids=["whole", "one in 97 lost"])
def test_charges_add_up_on_real_logs(name: str, modulus: int) -> None:
    events = capture_events(CAPTURES / name, until_as_of=False)
    assert_sums([event for event in events if not modulus or event["seq"] % modulus or event["seq"] < 5])


@settings(max_examples=examples(30), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(brokers(), st.integers(1, 9))
def test_cuts_and_restarts_change_no_row(broker: CauseBroker, every: int) -> None:
    events = broker.events
    rows = lane_rows(events)
    parts = [[rows[first : first + every]] for first in range(0, len(rows), every)]
    cut = as_tables(run_lane([*parts, [drain_row()]], restart=True)[0], events)
    whole = tables_of(events)
    assert [whole[name] for name in ("subscription_causes", "cause_transitions")] == [
        cut[name] for name in ("subscription_causes", "cause_transitions")
    ]
