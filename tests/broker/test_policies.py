"""Which limits ruled, by the tables: what the broker applied, at every place that can set one."""

from collections import defaultdict
from typing import Any

import pytest
from theatre import Played

pytestmark = pytest.mark.broker
#: A limiter is made and its rate read within this time; what is applied and where it is set are two events.
SOON_US = 1_000_000
Row = dict[str, Any]
Limit = tuple[str | None, str | None, str]


def states(rows: list[Row]) -> dict[Limit, list[Row]]:
    """(topic, subscription, kind) → the rows that say what rules, in the order of the log; a limit that ended has one without a place."""
    found: dict[Limit, list[Row]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row["seen_seq"]):
        if row["shadowed_by"] is None:
            found[row["topic"], row["subscription"], row["limit_kind"]].append(row)
    return found


def test_the_broker_applies_what_rules(played: Played) -> None:
    """No limit that rules stays another one than the broker applied."""
    for limit, rows in states(played.whole["policies"]).items():
        for row, following in zip(rows, [*rows[1:], None], strict=True):
            healed = following is not None and following["seen_at"] - row["seen_at"] <= SOON_US
            assert healed or row["policy_disagreement"] in (None, "none"), (limit, row)


LEVELS = "policy_levels"
#: What rules in turn: (place, messages a second or bytes); None: nothing does, or the topic is not loaded.
GONE = (None, None)
OF_SUBSCRIPTION = [("broker_config", 80), ("namespace", 60), ("topic", 40), ("subscription", 30), GONE, ("subscription", 30), ("topic", 40),
                   ("namespace", 60), ("broker_config", 80), ("dynamic_config", 25), GONE]  # fmt: skip
OF_OTHER = [step for step in OF_SUBSCRIPTION if step[0] != "subscription"]
#: A topic that loads gets the policies of its namespace before its own.
OF_TOPIC = [("broker_config", 900), ("namespace", 700), ("topic", 500), GONE, ("namespace", 700), ("topic", 500), ("namespace", 700),
            ("broker_config", 900), GONE]  # fmt: skip
OF_SIZE = [
    ("broker_config", 10 << 30),
    *((place, limit and limit * 100_000) for place, limit in OF_TOPIC[1:7]),
    ("broker_config", 10 << 30),
    GONE,
]


@pytest.mark.of_scenario(LEVELS)
def test_the_strongest_place_rules(played: Played) -> None:
    of = states(played.whole["policies"])
    (topic,) = {topic for topic, _, _ in of if topic is not None}
    assert in_turn(of[topic, "s", "subscription_dispatch_rate"]) == OF_SUBSCRIPTION
    assert in_turn(of[topic, "other", "subscription_dispatch_rate"]) == OF_OTHER
    assert in_turn(of[topic, None, "topic_dispatch_rate"]) == OF_TOPIC
    assert in_turn(of[topic, None, "size_quota"]) == OF_SIZE


def in_turn(rows: list[Row]) -> list[tuple[str | None, int | None]]:
    """Who rules with what, without repetition."""
    found: list[tuple[str | None, int | None]] = []
    for row in rows:
        step = row["set_by"], row["quota_limit"] if row["msg_rate"] is None else row["msg_rate"]
        if found[-1:] != [step]:
            found.append(step)
    return found


@pytest.mark.of_scenario(LEVELS)
def test_weaker_places_are_shadowed(played: Played) -> None:
    rows = [row for row in played.whole["policies"] if row["subscription"] == "s"]
    seen = {row["seen_seq"] for row in rows if row["set_by"] == "subscription"}
    assert len(seen) >= 2, "before and after the unload"
    for seq in seen:
        by = {row["set_by"]: row["shadowed_by"] for row in rows if row["seen_seq"] == seq}
        assert by == {"broker_config": "subscription", "namespace": "subscription", "topic": "subscription", "subscription": None}


@pytest.mark.of_scenario(LEVELS)
def test_a_load_does_not_set_what_was_set_before(played: Played) -> None:
    """The topic is loaded twice; its namespace and its broker set each value once."""
    since: dict[Any, set[int]] = defaultdict(set)
    for row in played.whole["policies"]:
        if row["set_by"] in ("broker_config", "namespace"):
            since[row["limit_kind"], row["set_by"], row["msg_rate"], row["quota_limit"]].add(row["set_at"])
    assert len(since) >= 7
    assert {key: times for key, times in since.items() if len(times) > 1} == {}


@pytest.mark.of_scenario("shared")
def test_answers_of_a_limiter_that_many_share_are_computed_exactly(played: Played, capsys: pytest.CaptureFixture[str]) -> None:
    """The log has the books of the limiter beside its answers, so the model knows what others took meanwhile."""
    rows = [row for row in played.whole["limiter_windows"] if row["level"] == "broker"]
    compared, exact = sum(row["compared"] for row in rows), sum(row["exact"] for row in rows)
    with capsys.disabled():
        print(f"\nshared: {exact:,} of {compared:,} answers of the broker's limiter are exact ({100 * exact / max(compared, 1):.1f} %)")
    assert compared >= 500
    assert exact >= 0.95 * compared
