"""Transactions that end: the log has each end, and what the broker acknowledges by itself because of it."""

import json
from collections import Counter
from typing import Any

import pytest
from scenarios.transactions import ABORTED, COMMITTED, MESSAGES, PUBLISHED
from theatre import Played

pytestmark = [pytest.mark.broker, pytest.mark.of_scenario("ended_transactions")]


def of_topic(played: Played, name: str, type_: str) -> list[dict[str, Any]]:
    """Events of a type about the topic `in` or `out`."""
    return [event for event in played.all_events if event["type"] == type_ and event["topic"].endswith(f"/{name}")]


def test_every_end_of_a_transaction_is_in_the_log(played: Played) -> None:
    ends = Counter(event["transaction_action"] for event in of_topic(played, "out", "transaction_end"))
    assert ends == {"commit": COMMITTED, "abort": 2 * ABORTED}
    assert len(of_topic(played, "out", "transaction_open")) == COMMITTED + 2 * ABORTED
    assert of_topic(played, "out", "transaction_end")[-1]["open_transactions"] == 0


def test_what_is_committed_is_acknowledged_by_the_broker_then(played: Played) -> None:
    positions = {(event["ledger"], event["entry"]) for event in of_topic(played, "in", "broker_ack")}
    assert len(positions) == COMMITTED * MESSAGES


def test_what_is_aborted_is_given_back(played: Played) -> None:
    """A Shared subscription gets the entries of the transaction, from no consumer; the active consumer of an Exclusive one gets all."""
    shared = [event for event in of_topic(played, "in", "redeliver") if event["cause"] == "aborted"]
    assert [event["entries"] for event in shared] == [MESSAGES] * ABORTED
    assert all("consumer" not in event for event in shared)
    exclusive = of_topic(played, "alone", "redeliver")
    assert len(exclusive) == ABORTED
    assert all("consumer" in event and "entries" not in event for event in exclusive)


def test_what_is_aborted_waits(played: Played) -> None:
    """For the broker and for us; the messages that were published in the transactions reach a consumer only if they are committed."""
    stats = json.loads((played.capture / "stats.json").read_text(encoding="utf-8"))
    backlogs = {topic.rpartition("/")[2]: said["subscriptions"]["s"]["msgBacklog"] for topic, said in stats.items()}
    assert (backlogs["in"], backlogs["alone"]) == (PUBLISHED - COMMITTED * MESSAGES, PUBLISHED)
    for name in ("in", "alone"):
        rows = [row for row in played.tables["subscription_backlog"] if row["topic"].endswith(f"/{name}")]
        assert max(rows, key=lambda row: int(row["check_number"]))["msg_backlog"] == backlogs[name]
    consumed = json.loads((played.capture / "manifest.json").read_text(encoding="utf-8"))["consumed"]
    assert consumed == {f"{topic}#s": COMMITTED * MESSAGES for topic in stats if topic.endswith("/out")}
