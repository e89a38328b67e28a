"""What must hold of every replay, asked of simulated logs: they share no code with the rules."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loaded import load_into

from console.named_warehouse import look_at
from pipeline.query.room import ReadingRoom
from pipeline.rules.array import Array
from pipeline.what_if.answer import Case, case_of, what_if
from pipeline.what_if.band import shared
from pipeline.what_if.changes import Changes
from pipeline.what_if.play import Life, play
from pipeline.what_if.recorded import flow_of
from sim.run import EVENTS, simulate
from sim.scenario import Scenario, scenario_of

ORDERS, LIMITED, SLOW = "persistent://shop/eu/orders", "persistent://shop/eu/limited", "persistent://shop/eu/slow"
DURATION_S, PER_S = 40, 60
#: `orders`: a quick consumer below a limit of bytes of its own; `limited`: two share a limit; `slow`: its consumers bind, a quota evicts.
SCENARIO: dict[str, Any] = {
    "title": "properties",
    "duration_s": DURATION_S,
    "brokers": {"quota_check_s": 5},
    "topics": [
        {
            "name": ORDERS,
            "limit": {"msg_rate": 35, "byte_rate": 20_000},
            "publish": {"entries_per_s": PER_S, "to_s": 25},
            "subscriptions": [{"name": "billing", "consumers": [{}]}],
        },
        {
            "name": LIMITED,
            "limit": {"msg_rate": 70},
            "publish": {"entries_per_s": PER_S, "to_s": 25},
            "subscriptions": [{"name": "one", "consumers": [{}]}, {"name": "two", "consumers": [{}]}],
        },
        {
            "name": SLOW,
            "publish": {"entries_per_s": PER_S, "to_s": 25},
            "quotas": {"size_bytes": 300_000, "size_policy": "consumer_backlog_eviction"},
            "subscriptions": [{"name": "jobs", "consumers": [{"count": 2, "prefetch": 20, "msgs_per_s": 15, "ack_every_ms": 20}]}],
        },
    ],
}
limits = st.integers(10, 150)


class Log(NamedTuple):
    """A simulated log that is loaded, and what a replay of its topic `orders` begins with."""

    scenario: Scenario
    look: ReadingRoom
    case: Case


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Log:
    folder: Path = tmp_path_factory.mktemp("properties")
    scenario = scenario_of(SCENARIO)
    simulate(scenario, 5, folder / "log")
    load_into(folder / "log" / EVENTS, folder / "warehouse")
    look = look_at(str(folder / "warehouse"), consistent=True)
    return Log(scenario, look, case_of(look, ORDERS, None, Changes(), None, (None, None)))


def played(case: Case, changes: Changes) -> Life:
    return play(case.world, case.target, changes, case.behaviours, case.latency, case.instants_ns)


def backlog(case: Case, changes: Changes) -> Array:
    return played(case, changes).backlog.sum(1)


@pytest.mark.parametrize("topic", [ORDERS, LIMITED, SLOW])
def test_a_simulated_log_replayed_as_it_was_passes_its_check(log: Log, topic: str) -> None:
    document = what_if(log.look, topic, None, Changes(), None, (log.scenario.start + timedelta(seconds=2), None))
    assert document["self_check"]["ok"], document["self_check"]
    assert max(one["actual"]["peak"] for one in document["subscriptions"]) > 5 * PER_S  # there is something to be wrong about


@settings(max_examples=40, deadline=None)
@given(st.tuples(limits, limits).map(sorted), st.sampled_from(["msg_rate", "byte_rate"]), st.sampled_from(["token_bucket", "classic"]))
def test_a_higher_limit_never_makes_a_backlog_larger_that_shares_no_limit(log: Log, pair: list[int], column: str, limiter: str) -> None:
    unit = 600 if column == "byte_rate" else 1
    lifted = {"msg_rate": -1, "byte_rate": -1}
    lower, higher = (backlog(log.case, Changes({"topic": {**lifted, column: limit * unit}}, limiter)) for limit in pair)
    # A blocked read waits for a second: one that comes earlier may be blocked when the other is not.
    assert higher.sum() <= lower.sum() + PER_S * len(lower)
    assert (higher <= lower + 2 * pair[1]).all()


@settings(max_examples=20, deadline=None)
@given(st.floats(0.5, 3.0), limits, st.integers(1, 4), st.sampled_from([0.5, 1.0, 2.0]))
def test_equal_inputs_give_equal_lives(log: Log, speed: float, limit: int, consumers: int, factor: float) -> None:
    changes = Changes({"topic": {"msg_rate": limit}}, consumers=consumers, speed=speed, publish_factor=factor)
    one, other = played(log.case, changes), played(log.case, changes)
    for of_one, of_other in zip(vars(one).values(), vars(other).values(), strict=True):
        np.testing.assert_array_equal(of_one, of_other)


@settings(max_examples=20, deadline=None)
@given(limits, st.sampled_from([0.5, 1.0, 2.0]))
def test_nothing_is_lost_or_made(log: Log, limit: int, factor: float) -> None:
    life = played(log.case, Changes({"topic": {"msg_rate": limit}}, publish_factor=factor))
    assert (life.backlog >= 0).all()
    assert life.backlog.max() <= PER_S * 1.5 * DURATION_S * factor
    assert (life.held_ns >= 0).all()


def test_who_of_two_gets_a_token_of_a_shared_limit_is_chance_and_the_band_says_so(log: Log) -> None:
    case = case_of(log.look, LIMITED, None, Changes(), None, (None, None))
    assert shared(played(case, Changes()), [0, 0], int(case.instants_ns[-1] - case.instants_ns[0])) == [[0, 1]]
    low, high, backlog = band_of(log, Changes({"topic": {"msg_rate": 50}}))
    last = len(backlog) // 2
    assert (low[last] < backlog[last]).all()
    assert (backlog[last] < high[last]).all()
    assert (high[last] <= 1.3 * backlog[last].sum()).all(), "all of one, and what is not known of the sum"


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([30, 50, 80]))
def test_a_life_in_which_chance_decides_otherwise_lies_in_the_band(log: Log, seed: int, limit: int) -> None:
    changes = Changes({"topic": {"msg_rate": limit}})
    low, high, _ = band_of(log, changes)
    case = case_of(log.look, LIMITED, None, changes, None, (None, None))
    phases = np.random.default_rng(seed).integers(1, case.latency.retry_ns, 2)
    life = play(case.world, case.target, changes, case.behaviours, case.latency, case.instants_ns, phases)
    assert ((low <= life.backlog) & (life.backlog <= high)).mean() >= 0.9


def band_of(log: Log, changes: Changes) -> tuple[Array, Array, Array]:
    """Least, most and predicted backlogs [instants, subscriptions] of the topic whose two subscriptions share its limit."""
    document = what_if(log.look, LIMITED, None, changes, None, (None, None))
    samples = [one["predicted"]["samples"] for one in document["subscriptions"]]
    low, high, backlog = (np.array([[sample[key] for sample in of] for of in samples]).T for key in ("low", "high", "backlog"))
    return low, high, backlog


def test_a_retry_comes_as_late_as_in_the_record(log: Log) -> None:
    assert 1_000_000_000 <= log.case.latency.retry_ns < 1_000_100_000  # a simulated timer is not late


@pytest.mark.parametrize("topic", [ORDERS, LIMITED, SLOW])
def test_a_replay_that_begins_in_the_middle_begins_with_the_facts(log: Log, topic: str) -> None:
    begin = log.scenario.start + timedelta(seconds=17)
    whole = what_if(log.look, topic, None, Changes(), None, (None, None))
    part = what_if(log.look, topic, None, Changes(), None, (begin, log.scenario.start + timedelta(seconds=36)))
    assert part["self_check"]["ok"], part["self_check"]
    assert len(part["subscriptions"]) == len(whole["subscriptions"])
    for one in part["subscriptions"]:
        actual, predicted = (one[side]["samples"] for side in ("actual", "predicted"))
        assert actual[0]["backlog"] == predicted[0]["backlog"] > PER_S
        of_whole = next(of for of in whole["subscriptions"] if of["subscription"] == one["subscription"])["actual"]
        assert sum(map(sum, counts(one["actual"]))) <= sum(map(sum, counts(of_whole)))


def counts(life: dict[str, Any]) -> list[list[int]]:
    """Reads that limiters lowered."""
    return [list(levels.values()) for levels in life["throttled"].values()]


def test_the_flow_of_a_consumer_has_its_entries_where_the_broker_counted_another_delivery(log: Log) -> None:
    world = log.case.world
    dispatch = world.record.frequent["dispatch"]
    miscounted = {**dispatch, "msgs": dispatch["msgs"] + 60 * (np.arange(len(dispatch["msgs"])) % 5 == 0)}
    other = replace(world, record=replace(world.record, frequent={**world.record.frequent, "dispatch": miscounted}))
    flow, same = vars(flow_of(world, 0)), vars(flow_of(other, 0))
    assert {name: values.tolist() for name, values in same.items()} == {name: values.tolist() for name, values in flow.items()}
