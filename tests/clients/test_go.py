"""Go's admin client and KEDA's structs read what `serve` answers."""

from typing import Any

import pytest
from broker_scrapes import Scrape
from go_clients import go_answers, has_go
from served import Served

pytestmark = pytest.mark.skipif(not has_go(), reason="there is no Go on this machine")
TOPIC = "persistent://real/y/audit"


@pytest.fixture(scope="module")
def answers(server: Served) -> Any:
    return go_answers(f"http://127.0.0.1:{server.port}", "real", "y", "audit", "parts")


def test_statistics_are_the_brokers(answers: Any, incident: Scrape) -> None:
    """Go's structs have no fields of PIP-406 and PIP-323."""
    theirs = incident.stats[TOPIC]
    assert answers["stats"]["backlogSize"] == theirs["backlogSize"]
    for name, subscription in theirs["subscriptions"].items():
        assert answers["stats"]["subscriptions"][name]["msgBacklog"] == subscription["msgBacklog"]
        assert answers["stats"]["subscriptions"][name]["type"] == subscription["type"]


def test_partitions_are_added(answers: Any, incident: Scrape) -> None:
    found = answers["partitioned stats"]
    assert found["partitions"].keys() == {f"persistent://real/y/parts-partition-{number}" for number in (0, 1)}
    orders, refunds = (incident.stats[f"persistent://real/y/{topic}"] for topic in ("orders", "refunds"))
    backlogs = {name: one["msgBacklog"] for topic in (orders, refunds) for name, one in topic["subscriptions"].items()}
    assert {name: one["msgBacklog"] for name, one in found["subscriptions"].items()} == backlogs


def test_lists_and_refusals_are_read(answers: Any, incident: Scrape) -> None:
    assert answers["partitioned topics"] == ["persistent://real/y/parts"]
    assert {*incident.stats} <= {*answers["list"]}
    assert sorted(answers["subscriptions"]) == ["archive", "search"]
    assert (answers["tenants"], answers["namespaces"], answers["clusters"]) == (["pulsar", "real"], ["real/y"], ["standalone"])
    assert "Topic persistent://real/y/none not found" in answers["no such topic"]


def test_kedas_scaler_reads_the_backlog(answers: Any, incident: Scrape) -> None:
    theirs = incident.stats[TOPIC]["subscriptions"]
    assert {name: one["msgBacklog"] for name, one in answers["keda"].items()} == {name: one["msgBacklog"] for name, one in theirs.items()}
    orders = incident.stats["persistent://real/y/orders"]["subscriptions"]
    for name, one in orders.items():
        assert answers["keda, partitioned"][name]["msgBacklog"] == one["msgBacklog"] > 0
