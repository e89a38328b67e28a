"""Scenario files: every shipped one can be simulated, and a mistake is one message that names the key."""

from typing import Any

import pytest
from simulated import shipped

from sim.scenario import SHIPPED, BadScenario, read_scenario, scenario_of

NAMES = sorted(path.stem for path in SHIPPED.glob("*.toml"))
TOPIC = {"name": "persistent://a/b/c", "subscriptions": [{"name": "s"}]}


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_scenario_can_be_read(name: str) -> None:
    scenario = shipped(name)
    assert scenario.topics
    assert len(scenario.title) > 10


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"title": "t", "duration_s": 1, "durations": 2}, "durations is no key of a scenario; do you mean duration_s?"),
        ({"duration_s": 1}, "title is missing"),
        ({"title": "t", "duration_s": 0}, "duration_s = 0.0: expected more than 0"),
        ({"title": "t", "duration_s": "1"}, "duration_s = '1': expected float"),
        ({"title": "t", "duration_s": 1, "log_version": "2.0"}, "log_version = '2.0': expected one of 1.0, 1.1"),
        ({"title": "t", "duration_s": 1, "faults": {"lost": 5}}, "faults.lost = 5.0: expected a share, 0 to 1"),
        ({"title": "t", "duration_s": 1, "brokers": {"count": True}}, "brokers.count = True: expected int"),
        ({"title": "t", "duration_s": 1, "topics": [TOPIC, TOPIC]}, "topics: two have the same name"),
        ({"title": "t", "duration_s": 1, "topics": [{**TOPIC, "count": 2}]}, "put {n} into the name"),
        ({"title": "t", "duration_s": 1, "topics": TOPIC}, "topics: expected a list"),
        (
            {"title": "t", "duration_s": 1, "topics": [{**TOPIC, "transactions": [{"from_s": 1, "to_s": 2, "ends": "never"}]}]},
            "topics.transactions.ends = 'never': expected one of commit, abort",
        ),
        ({"title": "t", "duration_s": 1, "topics": [{**TOPIC, "publish": {"keys": 0}}]}, "topics.publish.keys = 0: expected more than 0"),
        ({"title": "t", "duration_s": 1, "topics": [{**TOPIC, "publish": {"entry_bytes": [9, 1]}}]}, "the least comes first"),
        (
            {"title": "t", "duration_s": 1, "topics": [{**TOPIC, "subscriptions": [{"name": "s", "stuck": [{"from_s": 2, "to_s": 1}]}]}]},
            "topics.subscriptions.stuck.to_s must be after from_s",
        ),
        (
            {
                "title": "t",
                "duration_s": 1,
                "topics": [{**TOPIC, "subscriptions": [{"name": "s", "type": "Exclusive", "consumers": [{"count": 2}]}]}],
            },
            "s is Exclusive and has more than one consumer",
        ),
    ],
)
def test_a_mistake_names_its_key(table: dict[str, Any], message: str) -> None:
    with pytest.raises(BadScenario) as problem:
        scenario_of(table)
    assert message in str(problem.value)


def test_a_file_that_is_no_toml_is_refused() -> None:
    with pytest.raises(BadScenario):
        read_scenario(SHIPPED / "absent.toml")
