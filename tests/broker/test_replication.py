"""A replicator with a real other cluster: what it reads, that it loses its connection, and what it is behind then."""

import json
from typing import Any

import pytest
from scenarios.clusters import CURSOR, FAR, LEFT, SENT
from test_real_broker import causes_of
from theatre import Played

pytestmark = [pytest.mark.broker, pytest.mark.of_scenario("replicator_loses_its_cluster")]


#: A log file lasts a second here, and states are written at its beginning.
STATE_US = 2_000_000


def of_replicator(played: Played, type_: str) -> list[dict[str, Any]]:
    """Events of a type about the replicator."""
    return [event for event in played.all_events if event["type"] == type_ and event.get("sub") == CURSOR]


def test_it_reads_each_entry_that_the_other_cluster_gets(played: Played) -> None:
    reads = of_replicator(played, "replicator_read")
    assert sum(event["entries"] for event in reads) >= SENT
    assert all("error" not in event for event in reads)


def test_the_event_has_the_first_connection_and_the_states_its_loss(played: Played) -> None:
    """Pulsar's producer connects again by itself: the replicator hears nothing of a loss until the topic is unloaded."""
    assert [event["connected"] for event in of_replicator(played, "replicator_connection")] == [True, False]
    gained, ended = (event["ts"] for event in of_replicator(played, "replicator_connection"))
    states = [event for event in of_replicator(played, "state") if gained < event["ts"] < ended]
    connected = [event["connected"] for event in states]
    lost = connected.index(False)
    assert lost > 0
    assert connected == [True] * lost + [False] * (len(connected) - lost)
    ((from_us, to_us),) = ((cause["from_us"], cause["to_us"]) for cause in causes_of(played))
    assert from_us - STATE_US <= states[lost]["ts"] <= to_us


def test_what_it_is_behind_is_what_the_broker_says(played: Played) -> None:
    stats = json.loads((played.capture / "stats.json").read_text(encoding="utf-8"))
    ((topic, said),) = stats.items()
    assert (said["replication"][FAR]["replicationBacklog"], said["replication"][FAR]["connected"]) == (LEFT, False)
    rows = [row for row in played.tables["subscription_backlog"] if (row["topic"], row["subscription"]) == (topic, CURSOR)]
    last = max(rows, key=lambda row: int(row["check_number"]))
    assert (last["cursor_kind"], last["msg_backlog"]) == ("replicator", LEFT)
    state = of_replicator(played, "state")[-1]
    assert (state["connected"], state["backlog_entries"]) == (False, LEFT)
