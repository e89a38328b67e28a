"""The order in which Spark gets the brokers of `right-size`."""

import pytest

from driver.brokers_on_spark import largest_first
from pipeline.what_if.limited import Limited

ONE, TWO = ("persistent://a/b/one",), ("persistent://a/b/one", "persistent://a/b/two")


@pytest.mark.parametrize(
    ("brokers", "events", "expected"),
    [
        ([Limited("a", ONE), Limited("b", ONE)], {"a": 10, "b": 20}, ["b", "a"]),
        ([Limited("a", ONE), Limited("b", TWO)], {"a": 10, "b": 10}, ["b", "a"]),
        ([Limited("a", TWO), Limited("b", ONE)], {"a": 10, "b": 20}, ["b", "a"]),
        ([Limited("a", ()), Limited("b", ONE)], {"a": 10, "b": 10}, ["b", "a"]),
        ([Limited("a", ()), Limited("b", ())], {"a": 10, "b": 20}, ["b", "a"]),
        ([Limited("a", ONE), Limited("b", ONE)], {"b": 1}, ["b", "a"]),
        ([Limited("a", ONE), Limited("b", ONE)], {}, ["a", "b"]),
    ],
)
def test_the_broker_with_most_topics_times_events_begins(brokers: list[Limited], events: dict[str, int], expected: list[str]) -> None:
    assert [one.broker for one in largest_first(brokers, events)] == expected
