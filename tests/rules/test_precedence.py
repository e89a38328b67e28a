"""Which policy is in force: cases A18–A20, A23 and B25 of the semantics reference by id, and the invariants beside them.

A case is a log: what is set where, and what the broker then applies. The broker's figure of each step is the effective limit of the case.
"""

from itertools import combinations
from typing import Any

import pytest
from lane_tables import tables_of
from log_builder import SUB, TOPIC, Log

from schemas.events import SOURCES

NAMESPACE = {"namespace": "shop/eu"}
OF_TOPIC = {"topic": TOPIC}
PLACE = {
    "broker_config": {}, "dynamic_config": {}, "namespace_legacy": NAMESPACE, "namespace": NAMESPACE, "topic_global": OF_TOPIC,
    "topic": OF_TOPIC, "subscription_global": {**OF_TOPIC, "sub": SUB}, "subscription": {**OF_TOPIC, "sub": SUB},
}  # fmt: skip
KIND_OF_LEVEL = {"topic": "topic_dispatch_rate", "subscription": "subscription_dispatch_rate"}


def put(log: Log, source: str, kind: str, *values: Any) -> Log:
    """Set a policy there; without values it is set there no more."""
    named = ("quota_type", "limit", "policy") if kind == "backlog_quota" else ("msg_rate", "byte_rate")
    rest = {} if kind == "backlog_quota" or not values else {"period_s": 1, "relative": False}
    return log.add("policy_set", source=source, policy_kind=kind, **PLACE[source], **dict(zip(named, values, strict=False)), **rest)


def apply(log: Log, level: str, msg: int, byte: int, source: str | None) -> Log:
    """The broker applies a rate."""
    log.rate(level, msg, byte)
    if source is not None:
        log.events[-1]["source"] = source
    return log


def shown(log: Log, kind: str) -> list[tuple[Any, ...]]:
    """(place in force, messages, bytes, disagreement) of each report of a limit, in order."""
    rows = [row for row in tables_of(log.events)["policies"] if row["limit_kind"] == kind and row["in_force"]]
    rows.sort(key=lambda row: row["seen_seq"])
    return [(row["set_by"], row["msg_rate"], row["byte_rate"], row["policy_disagreement"]) for row in rows]


@pytest.mark.parametrize("place", ["namespace", "topic"])
def test_a18_a_topic_without_a_rate_has_no_limiter_until_one_is_set(place: str) -> None:
    log = Log().start().at(1).read()
    put(log, "dynamic_config", "topic_dispatch_rate", 100, 0)
    apply(log, "topic", 100, 0, "dynamic_config").read(topic=(100, -1)).at(2)
    put(log, place, "topic_dispatch_rate", 100, 1000)
    apply(log, "topic", 100, 1000, place).read(topic=(100, 1000))
    assert shown(log, "topic_dispatch_rate") == [("dynamic_config", 100, 0, "none"), (place, 100, 1000, "none")]
    windows = [row for row in tables_of(log.events)["limiter_windows"] if row["level"] == "topic"]
    assert sum(row["exact"] for row in windows) == sum(row["compared"] for row in windows) == 3
    assert not [row for row in tables_of(log.events)["policies"] if row["seen_at"] < row["set_at"]]


def test_a19_a_namespace_overrides_the_broker_until_it_has_no_limit() -> None:
    log = put(Log().start(), "broker_config", "topic_dispatch_rate", 100, 0)
    apply(log, "topic", 100, 0, "broker_config").at(1)
    put(log, "namespace", "topic_dispatch_rate", 500, 0)
    apply(log, "topic", 500, 0, "namespace").at(2)
    put(log, "namespace", "topic_dispatch_rate", 0, 0)
    apply(log, "topic", 100, 0, "broker_config")
    assert shown(log, "topic_dispatch_rate") == [
        ("broker_config", 100, 0, "none"), ("namespace", 500, 0, "none"), ("broker_config", 100, 0, "none"),
    ]  # fmt: skip


def test_a20_a_namespace_rate_replaces_the_legacy_one_as_a_whole() -> None:
    log = put(Log().start(), "namespace_legacy", "topic_dispatch_rate", 100, 512)
    apply(log, "topic", 100, 512, "namespace_legacy").at(1)
    put(log, "namespace", "topic_dispatch_rate", 200, 1024)
    apply(log, "topic", 200, 1024, "namespace").at(2)
    put(log, "namespace", "topic_dispatch_rate")
    put(log, "namespace_legacy", "topic_dispatch_rate")
    apply(log, "topic", -1, -1, None)
    assert shown(log, "topic_dispatch_rate") == [
        ("namespace_legacy", 100, 512, "none"), ("namespace", 200, 1024, "none"), (None, None, None, "none"),
    ]  # fmt: skip


def test_a23_the_next_weaker_place_rules_when_a_stronger_one_is_cleared() -> None:
    log = put(put(put(Log().start(), "broker_config", "topic_dispatch_rate", 1, 0), "namespace", "topic_dispatch_rate", 2, 0), "topic",
              "topic_dispatch_rate", 3, 0)  # fmt: skip
    apply(log, "topic", 3, 0, "topic").at(1)
    put(log, "namespace", "topic_dispatch_rate")
    apply(log, "topic", 3, 0, "topic").at(2)
    put(log, "topic", "topic_dispatch_rate")
    apply(log, "topic", 1, 0, "broker_config")
    assert shown(log, "topic_dispatch_rate") == [
        ("topic", 3, 0, "none"), ("topic", 3, 0, "none"), ("broker_config", 1, 0, "none"),
    ]  # fmt: skip


def test_b25_a_default_in_gigabytes_is_one_of_its_bytes() -> None:
    """10240 / 1024³ GB: the broker writes what it made of it, and acts at 10,240 bytes."""
    log = Log().start(backlogQuotaDefaultLimitGB="9.5367431640625E-6")
    put(log, "broker_config", "backlog_quota", "destination_storage", 10240, "consumer_backlog_eviction")
    quota = {"quota_type": "destination_storage", "limit": 10240, "policy": "consumer_backlog_eviction"}
    log.add("backlog_quota", topic=TOPIC, source="broker_config", **quota)
    log.publish(10, size=1023).add("quota_round", phase="start").add("quota_check", topic=TOPIC, duration_us=0).publish(11, size=1033)
    tables = tables_of(log.add("quota_check", topic=TOPIC, duration_us=0).events)
    (row,) = [row for row in tables["policies"] if row["limit_kind"] == "size_quota"]
    assert (row["set_by"], row["quota_limit"], row["applied_limit"], row["policy_disagreement"]) == ("broker_config", 10240, 10240, "none")
    assert [check["decision"] for check in tables["topic_backlog"]] == ["none", "size"]


@pytest.mark.parametrize(("weaker", "stronger"), combinations(SOURCES, 2))
def test_a_stronger_place_shadows_a_weaker_one_as_a_whole(weaker: str, stronger: str) -> None:
    log = Log().start()
    for source, values in ((stronger, (-1, 7)), (weaker, (5, 5))):  # whatever was set first
        put(log, source, "subscription_dispatch_rate", *values)
    apply(log, "subscription", -1, 7, stronger)
    rows = [row for row in tables_of(log.events)["policies"] if row["limit_kind"] == "subscription_dispatch_rate"]
    assert {(row["set_by"], row["in_force"], row["shadowed_by"], row["msg_rate"]) for row in rows} == {
        (stronger, True, None, -1), (weaker, False, stronger, 5),
    }  # fmt: skip


def test_a_dynamic_rate_without_a_limit_replaces_the_one_of_the_file() -> None:
    log = put(Log().start(), "broker_config", "topic_dispatch_rate", 100, 0)
    apply(log, "topic", 100, 0, "broker_config").at(1)
    put(log, "dynamic_config", "topic_dispatch_rate")
    apply(log, "topic", 0, 0, None)
    assert shown(log, "topic_dispatch_rate")[-1] == (None, None, None, "none")


def test_another_subscription_keeps_the_rate_of_the_topic() -> None:
    log = put(
        Log().start().add("dispatcher_open", topic=TOPIC, sub="other", sub_type="Shared"), "topic", "subscription_dispatch_rate", 9, 0
    )
    put(log, "subscription", "subscription_dispatch_rate", 3, 0)
    for sub, rate, source in ((SUB, 3, "subscription"), ("other", 9, "topic")):
        apply(log, "subscription", rate, 0, source).events[-1]["sub"] = sub
    rows = [row for row in tables_of(log.events)["policies"] if row["in_force"] and row["limit_kind"] == "subscription_dispatch_rate"]
    assert {(row["subscription"], row["set_by"], row["msg_rate"]) for row in rows} == {(SUB, "subscription", 3), ("other", "topic", 9)}


def test_what_a_topic_had_set_for_itself_is_forgotten_with_its_object() -> None:
    """The broker writes it again at the next load, and does not write that it was taken away meanwhile."""
    log = put(put(Log().start(), "namespace", "topic_dispatch_rate", 50, 0), "topic", "topic_dispatch_rate", 10, 0)
    apply(log, "topic", 10, 0, "topic").at(1).add("topic_unload", topic=TOPIC).add("topic_load", topic=TOPIC)
    apply(log, "topic", 50, 0, "namespace")
    assert shown(log, "topic_dispatch_rate") == [("topic", 10, 0, "none"), ("namespace", 50, 0, "none")]
