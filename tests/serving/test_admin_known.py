"""What `/admin/v2` answers of a log with a hole, without its beginning, before the first check; and how partitions are added."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from broker_scrapes import ALWAYS
from capture_events import write_events
from loaded import load_into

from pipeline.query.room import ReadingRoom
from pipeline.serving.admin.asked_rows import Tables
from pipeline.serving.admin.documents import partitioned_document
from pipeline.serving.admin.names import NotFound
from pipeline.serving.admin.paths import path_of

(F_LIMIT,) = (scrape for scrape in ALWAYS if scrape.name == "f_limit_above_need")
TOPIC = "persistent/real/f/t"
Event = dict[str, Any]


@pytest.fixture(scope="module")
def events() -> list[Event]:
    return F_LIMIT.events()


def stats_of(events: Sequence[Event], folder: Path) -> Any:
    room = ReadingRoom(load_into(write_events(list(events), folder / "log" / "events.jsonl.gz").parent, folder / "warehouse"))
    path, names = path_of(f"{TOPIC}/stats")
    return json.loads(path.document(Tables(room, None), names, {}))


def test_an_event_that_is_lost_takes_every_field_that_it_could_have_changed(events: list[Event], tmp_path: Path) -> None:
    publishes = [event for event in events if event["type"] == "publish"]
    lost = publishes[len(publishes) // 2]
    found = stats_of([event for event in events if event is not lost], tmp_path)
    (subscription,) = found.pop("subscriptions").values()
    assert found.keys() == {"ownerBroker"}
    assert subscription.keys() <= {"type", "durable", "isDurable"}


def test_a_subscription_that_no_check_has_seen_has_its_counters_and_type_alone(events: list[Event], tmp_path: Path) -> None:
    first_round = next(event["seq"] for event in events if event["type"] == "quota_round")
    found = stats_of([event for event in events if event["seq"] < first_round], tmp_path)
    assert found.keys() == {"subscriptions"}
    (subscription,) = found["subscriptions"].values()
    assert {name.partition("EventsBy")[0] for name in subscription} == {"type", "dispatchThrottledMsg", "dispatchThrottledBytes"}


def test_a_topic_that_is_in_two_clusters_is_nobodys(events: list[Event], tmp_path: Path) -> None:
    other = [
        {**event, "broker": "127.0.0.2:8080", **({"cluster": "second"} if event["type"] == "broker_start" else {})} for event in events
    ]
    with pytest.raises(NotFound, match="several clusters have it: second, standalone"):
        stats_of([*events, *other], tmp_path)


def partition(**fields: Any) -> dict[str, Any]:
    return {"oldestBacklogMessageAgeSeconds": -1, "publishers": [], "earliestMsgPublishTimeInBacklogs": 0, "subscriptions": {}} | fields


def test_partitions_without_an_age_have_the_age_0_together() -> None:
    """B26 of Pulsar's own tests: −1, 7, 7 of –, x, y are 7 of x, and the limit of the last one."""
    none = partitioned_document({"a": partition(), "b": partition()}, each=False)
    assert none["oldestBacklogMessageAgeSeconds"] == 0
    assert "oldestBacklogMessageSubscriptionName" not in none
    seven = {"oldestBacklogMessageAgeSeconds": 7}
    three = {
        "a": partition(backlogQuotaLimitTime=10),
        "b": partition(**seven, oldestBacklogMessageSubscriptionName="x", backlogQuotaLimitTime=20),
        "c": partition(**seven, oldestBacklogMessageSubscriptionName="y", backlogQuotaLimitTime=30),
    }
    found = partitioned_document(three, each=False)
    assert (found["oldestBacklogMessageAgeSeconds"], found["oldestBacklogMessageSubscriptionName"]) == (7, "x")
    assert found["backlogQuotaLimitTime"] == 30


def test_a_sum_of_which_a_part_is_not_known_is_left_out() -> None:
    of_two = {
        "a": partition(backlogSize=5, subscriptions={"s": {"msgBacklog": 1, "unackedMessages": 1}, "t": {"msgBacklog": 4}}),
        "b": partition(subscriptions={"s": {"msgBacklog": 2}}),
    }
    found = partitioned_document(of_two, each=False)
    assert "backlogSize" not in found
    assert found["subscriptions"] == {"s": {"msgBacklog": 3}, "t": {"msgBacklog": 4}}


def test_the_earliest_time_of_partitions_is_the_least_and_0_is_none() -> None:
    parts = [partition(earliestMsgPublishTimeInBacklogs=value) for value in (0, 20, 10, 0)]
    found = partitioned_document({str(number): one for number, one in enumerate(parts)}, each=False)
    assert found["earliestMsgPublishTimeInBacklogs"] == 10
