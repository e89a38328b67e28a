"""Pulsar's own Java classes read what `serve` answers: the getters of PIP-406 and PIP-323 by name, every list, every refusal."""

import json
from pathlib import Path
from typing import Any

import pytest
from broker_scrapes import Scrape
from java_clients import admin_tool, java_answers
from served import Served

NAMESPACE, TOPIC, PARTITIONED = "real/y", "persistent://real/y/audit", "persistent://real/y/parts"
SIX = [f"DispatchThrottled{what}EventsBy{level}Limit" for what in ("Msg", "Bytes") for level in ("Subscription", "Topic", "Broker")]
FOUR = ["BacklogQuotaLimitSize", "BacklogQuotaLimitTime", "OldestBacklogMessageAgeSeconds", "OldestBacklogMessageSubscriptionName"]
INSTANT = "2026-11-21T11:47:40Z"


def field(getter: str) -> str:
    """The name in JSON."""
    return getter[0].lower() + getter[1:]


def url(server: Served, path: str = "") -> str:
    return f"http://127.0.0.1:{server.port}{path}"


@pytest.fixture(scope="module")
def answers(server: Served) -> Any:
    return java_answers(url(server), NAMESPACE, TOPIC, PARTITIONED)


def test_the_six_getters_of_a_subscription_are_the_brokers(answers: Any, incident: Scrape) -> None:
    theirs = incident.stats[TOPIC]["subscriptions"]
    for name, found in answers["stats"]["subscriptions"].items():
        assert {getter: found[f"get{getter}"] for getter in SIX} == {getter: theirs[name][field(getter)] for getter in SIX}
        assert found["getMsgBacklog"] == theirs[name]["msgBacklog"]
        assert found["getType"] == theirs[name]["type"]
    assert any(one["getDispatchThrottledMsgEventsByBrokerLimit"] > 0 for one in answers["stats"]["subscriptions"].values())


def test_the_four_fields_of_a_topic_are_the_brokers(answers: Any, incident: Scrape) -> None:
    """The age is of a moment before: see test_admin_captures."""
    theirs, found = incident.stats[TOPIC], answers["stats"]
    assert found["getOldestBacklogMessageAgeSeconds"] in (theirs["oldestBacklogMessageAgeSeconds"] - second for second in (0, 1, 2))
    assert {one: found[f"get{one}"] for one in FOUR if "Age" not in one} == {one: theirs[field(one)] for one in FOUR if "Age" not in one}
    assert answers["stats with all options"] == found


def test_lists_and_words_are_read(answers: Any, incident: Scrape) -> None:
    topics = sorted([*incident.stats, *(f"{PARTITIONED}-partition-{number}" for number in (0, 1))])
    assert sorted(answers["list"]) == sorted(answers["topics of the namespace"]) == topics
    assert sorted(answers["list with system topics"]) == sorted([*topics, "persistent://real/y/__change_events"])
    assert answers["partitioned topics"] == [PARTITIONED]
    assert sorted(answers["subscriptions"]) == ["archive", "search"]
    assert (answers["namespaces"], answers["clusters"]) == ([NAMESPACE], ["standalone"])
    assert answers["tenants"] == ["pulsar", "real"]
    assert (answers["health"], answers["version"]) == ("ok", "4.0.8")


def test_quotas_and_rates_are_read(answers: Any) -> None:
    quotas = answers["quotas"]
    assert quotas["destination_storage"]["limitSize"] == 150000
    assert quotas["destination_storage"]["policy"] == "consumer_backlog_eviction"
    assert quotas["message_age"]["limitTime"] == -1
    assert (answers["no rate"], answers["no topic rate"]) == ("null", "null")
    rate = {"relativeToPublishRate": False, "ratePeriodInSecond": 1}
    assert answers["rate"] == {**rate, "dispatchThrottlingRateInMsg": 60, "dispatchThrottlingRateInByte": -1}
    assert answers["topic rate"] == {**rate, "dispatchThrottlingRateInMsg": -1, "dispatchThrottlingRateInByte": 40000}


def test_what_is_not_there_is_the_clients_own_exception_with_our_reason(answers: Any) -> None:
    assert answers["no such topic"].startswith(f"NotFoundException 404 Topic {TOPIC}-none not found")
    assert answers["no such namespace"].startswith("NotFoundException 404 Namespace real/y-none does not exist")
    assert answers["internal stats"].startswith("NotFoundException 404 this path is not answered")


def test_partitions_are_added_as_pulsars_class_adds_them(answers: Any, server: Served) -> None:
    """Of the fields that we answer: the others are Java's defaults on either side, or were left out."""
    assert sorted(answers["partitions"]) == [f"{PARTITIONED}-partition-{number}" for number in (0, 1)]
    answered = server.get("/admin/v2/persistent/real/y/parts/partitioned-stats")[1]
    ours, theirs = answers["partitioned stats"], answers["partitions, added by Pulsar"]
    assert compared(answered, ours) == compared(answered, theirs)
    assert ours["publishers"] == theirs["publishers"]
    assert ours["subscriptions"].keys() == theirs["subscriptions"].keys()
    for name, fields in answered["subscriptions"].items():
        assert compared(fields, ours["subscriptions"][name]) == compared(fields, theirs["subscriptions"][name])
    assert ours["getOldestBacklogMessageAgeSeconds"] > 0


def compared(answered: dict[str, Any], getters: dict[str, Any]) -> dict[str, Any]:
    """Of the fields of an answer that have a getter: its value."""
    named = {name: (f"get{name[0].upper()}{name[1:]}", f"is{name[0].upper()}{name[1:]}") for name in answered}
    found = {name: getters[one] for name, candidates in named.items() for one in candidates if one in getters}
    assert len(found) > 3
    return found


@pytest.mark.parametrize("path", ["", f"/at/{INSTANT}"])
def test_the_command_line_prints_the_statistics(path: str, server: Served, tmp_path: Path) -> None:
    printed = json.loads(admin_tool(url(server, path), tmp_path, "topics", "stats", TOPIC))
    answered = server.get(f"{path}/admin/v2/persistent/real/y/audit/stats")[1]
    assert {name: printed[name] for name in map(field, FOUR)} == {name: answered[name] for name in map(field, FOUR)}
    for name, subscription in answered["subscriptions"].items():
        assert {one: printed["subscriptions"][name][one] for one in subscription} == subscription


def test_the_past_is_another_answer_than_now(server: Served) -> None:
    now, then = (java_answers(url(server, path), NAMESPACE, TOPIC, PARTITIONED)["stats"] for path in ("", f"/at/{INSTANT}"))
    assert now["subscriptions"]["archive"]["getMsgBacklog"] != then["subscriptions"]["archive"]["getMsgBacklog"]
    assert now["getBacklogQuotaLimitSize"] == then["getBacklogQuotaLimitSize"]
