"""Rates relative to the publish rate, and changes that would change nothing."""

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.what_if_real import side
from pipeline.faults import BadConfig
from pipeline.what_if.answer import what_if
from pipeline.what_if.changes import NO_LIMIT, changes_of
from pipeline.what_if.relative import NS_PER_S, Setting, averages_of, followed
from pipeline.what_if.stretch import Stretch
from pipeline.what_if.world import World


def world_of_publishes(per_minute: list[int], started_ns: int | None = 0, from_minute: int | None = None) -> World:
    """A topic that gets so many messages of 10 bytes in each minute, spread evenly.

    `started_ns`: of the broker; null: before the log. `from_minute`: replayed from then on; null: as a whole.
    """
    ns = [k * 60 * NS_PER_S + 60 * NS_PER_S * i // count for k, count in enumerate(per_minute) for i in range(count)]
    ones = np.ones(len(ns), dtype=np.int64)
    publishes = {"ns": np.array(ns, dtype=np.int64), "msgs": ones, "bytes": 10 * ones}
    record = SimpleNamespace(
        setting={},
        of=lambda _: [] if started_ns is None else [{"ns": started_ns}],
        where=lambda *_: publishes,
        stretch=Stretch(None if from_minute is None else from_minute * 60_000_000),
    )
    begin_ns = 60 * NS_PER_S * (from_minute or 0)
    end_ns = 60 * NS_PER_S * len(per_minute)
    return cast("World", SimpleNamespace(record=record, scales=[SimpleNamespace(topic_id=1)], begin_ns=begin_ns, end_ns=end_ns))


def test_an_average_rises_at_once_and_falls_by_half() -> None:
    ns, averages = averages_of(world_of_publishes([600, 6_000, 0, 0]), 0, 1.0)
    assert (ns / NS_PER_S).tolist() == [60, 120, 180, 240]
    assert averages.tolist() == [[10, 100], [100, 1_000], [50, 500], [25, 250]]


@pytest.mark.parametrize("started_ns", [0, None])
def test_from_an_instant_on_a_rate_begins_with_the_publishes_of_the_minute_before(started_ns: int | None) -> None:
    world = world_of_publishes([600, 1_200, 6_000, 0, 600], started_ns, from_minute=3)
    rate = {"msg_rate": 50, "byte_rate": NO_LIMIT, "relative": True}
    found = followed(world, [Setting(world.begin_ns, 1, 0, rate, "token_bucket")], [1.0])
    assert [(one.ns // (60 * NS_PER_S), one.rate["msg_rate"]) for one in found] == [(3, 50 + 100), (4, 50 + 50)]


def test_a_record_that_is_replayed_as_a_whole_begins_without_an_average() -> None:
    world = world_of_publishes([600, 600], None)
    rate = {"msg_rate": 50, "byte_rate": NO_LIMIT, "relative": True}
    found = followed(world, [Setting(0, 1, 0, rate, "token_bucket")], [1.0])
    assert [one.rate["msg_rate"] for one in found] == [50, 60]


@given(st.lists(st.integers(0, 3_000), min_size=1, max_size=8), st.floats(0.1, 10))
def test_an_average_is_never_below_its_minute_and_never_above_the_highest(per_minute: list[int], factor: float) -> None:
    _, averages = averages_of(world_of_publishes(per_minute), 0, factor)
    for k, (msgs, size) in enumerate(averages):
        assert msgs >= int(per_minute[k] * factor / 60 - 1e-6)
        assert msgs <= max(per_minute) * factor / 60 + 1e-6
        assert abs(size - 10 * msgs) <= 10


@given(st.lists(st.integers(0, 1_000), min_size=1, max_size=6), st.integers(0, 300), st.integers(1, 50))
def test_only_relative_rates_follow_and_only_until_the_next_setting(per_minute: list[int], second: int, msgs: int) -> None:
    world = world_of_publishes(per_minute)
    changed_ns = second * NS_PER_S
    rate = {"msg_rate": msgs, "byte_rate": NO_LIMIT, "relative": True}
    settings = [Setting(0, 1, 0, rate, "classic"), Setting(changed_ns, 1, 0, {**rate, "relative": False}, "classic")]
    found = followed(world, settings, [1.0])
    assert found == sorted(found, key=lambda one: one.ns)
    assert all(one.rate["byte_rate"] == NO_LIMIT and one.rate["msg_rate"] >= msgs for one in found)
    last = [one for one in found if not one.rate["relative"]]
    assert [(one.ns, one.rate["msg_rate"]) for one in last] == [(changed_ns, msgs)]
    assert all(one.ns < max(changed_ns, 1) for one in found if one.rate["relative"])


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A real broker's topic: its two subscriptions share 50 messages/s, 100 are published each second."""
    return side("topic_rate_50_to_200", "a", tmp_path_factory.mktemp("held"))


def test_a_relative_limit_lets_more_through(held: Any) -> None:
    topic = held.changed["topic"]
    plain = what_if(held.room, topic, None, changes_of(["topic.dispatch_rate.messages=50"]), None, held.span)
    relative = what_if(held.room, topic, None, changes_of(["topic.dispatch_rate.relative=true"]), None, held.span)
    assert relative["self_check"]["ok"]
    ends = [sum(one["predicted"]["samples"][-1]["backlog"] for one in document["subscriptions"]) for document in (plain, relative)]
    assert ends[1] < 0.9 * ends[0]
    assert any("relative" in text for text in relative["assumptions"])
    assert not any("relative" in text for text in plain["assumptions"])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("broker.dispatch_rate.period_s=5", "--set broker.dispatch_rate.period_s: no limit is there at this level"),
        ("subscription.dispatch_rate.relative=true", "--set subscription.dispatch_rate.relative: no limit is there at this level"),
        ("quota.age_s.policy=producer_exception", "--set quota.age_s.policy: no such quota is there"),
    ],
)
def test_a_change_without_effect_is_refused(held: Any, text: str, reason: str) -> None:
    with pytest.raises(BadConfig) as refused:
        what_if(held.room, held.changed["topic"], None, changes_of([text]), None, held.span)
    assert str(refused.value).startswith(reason)


def test_a_relative_rate_of_a_long_period_is_refused(held: Any) -> None:
    changes = changes_of(["topic.dispatch_rate.relative=true", "topic.dispatch_rate.period_s=30"])
    with pytest.raises(BadConfig, match="only of rates with a period of at most 6 s"):
        what_if(held.room, held.changed["topic"], None, changes, None, held.span)
