"""A collector that is attached to a broker which runs already: the log begins with what is loaded, and with what is set for it."""

import gzip
import json
import time
from pathlib import Path
from typing import Any

import pytest
from lane_tables import tables_of

from tools.collector_jar import JAR
from tools.live_broker.admin import rate
from tools.live_broker.load import Clients, Publishing
from tools.live_broker.pulsar import server
from tools.live_broker.standalone import Standalone, checked_collector

pytestmark = pytest.mark.broker
NAMESPACE = "real/attached"
TOPIC, OTHER = (f"persistent://{NAMESPACE}/{name}" for name in ("t", "other"))
PATIENCE_S = 30.0
QUOTA = {"limitSize": 70_000_000, "limitTime": -1, "policy": "consumer_backlog_eviction"}


def test_the_log_begins_with_what_is_set_for_topics_that_are_loaded(tmp_path: Path) -> None:
    broker = Standalone(server(), None, tmp_path / "broker", tmp_path / "events", {"dispatchThrottlingRatePerTopicInMsg": "900"})
    with broker:
        _set_at_all_places(broker)
        broker.attach(checked_collector(JAR))
        deadline = time.monotonic() + PATIENCE_S
        while not {"topic_load", "policy_set"} <= {event["type"] for event in _events(broker.events)}:
            assert time.monotonic() < deadline, broker.output
            # A request is how the collector finds the broker.
            Clients(broker.service_url, broker.work / "clients.log").publish(TOPIC, Publishing(1, 1))
            time.sleep(1)
    rows = [row for row in tables_of(_events(broker.events))["policies"] if row["in_force"] and row["topic"] is not None]
    in_force = {(row["topic"], row["subscription"], row["limit_kind"]): row for row in rows}
    assert {
        (topic, kind): (row["set_by"], row["msg_rate"] if row["quota_limit"] is None else row["quota_limit"])
        for (topic, _, kind), row in in_force.items()
    } == {
        (TOPIC, "topic_dispatch_rate"): ("topic", 500),
        (TOPIC, "subscription_dispatch_rate"): ("subscription", 30),
        (TOPIC, "size_quota"): ("namespace", 70_000_000),
        (TOPIC, "age_quota"): ("broker_config", -1),
        (OTHER, "topic_dispatch_rate"): ("broker_config", 900),
        (OTHER, "subscription_dispatch_rate"): ("namespace", 60),
        (OTHER, "size_quota"): ("namespace", 70_000_000),
        (OTHER, "age_quota"): ("broker_config", -1),
    }
    assert {row["policy_disagreement"] for row in in_force.values()} == {"none"}


def _set_at_all_places(broker: Standalone) -> None:
    admin = broker.admin
    admin.make_namespace(NAMESPACE)
    admin.namespace_policy(NAMESPACE, "subscriptionDispatchRate", rate(60))
    admin.namespace_policy(NAMESPACE, "backlogQuota?backlogQuotaType=destination_storage", QUOTA)
    for topic in (TOPIC, OTHER):
        admin.make_topic(topic)
        Clients(broker.service_url, broker.work / "clients.log").subscribe(topic, "s")
    admin.topic_policy(TOPIC, "dispatchRate", rate(500))
    admin.topic_policy(TOPIC, "s/dispatchRate", rate(30))
    time.sleep(1)


def _events(folder: Path) -> list[dict[str, Any]]:
    """Of the files that are whole, in their order: one epoch."""
    files = sorted(
        (path for path in folder.glob("*.jsonl.gz") if not path.name.startswith("_")),
        key=lambda path: int(path.name.split("-")[-1].split(".")[0]),
    )
    return [json.loads(line) for path in files for line in gzip.open(path, "rt", encoding="utf-8")]
