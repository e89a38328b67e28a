"""Producers that a quota keeps out: the log has each refusal, and who refused."""

from collections import Counter

import pytest
from theatre import Played

pytestmark = [pytest.mark.broker, pytest.mark.of_scenario("producers_cut_off")]
#: Of each topic: the quota that is exceeded, and what it does.
BY = {
    "hold": ("destination_storage", "producer_request_hold"),
    "exception": ("destination_storage", "producer_exception"),
    "age": ("message_age", "producer_exception"),
}


def test_a_refusal_names_its_quota(played: Played) -> None:
    refused = [event for event in played.all_events if event["type"] == "producer_refused"]
    assert {event["error"] for event in refused} == {"TopicBacklogQuotaExceededException"}
    assert {event["topic"].rpartition("/")[2]: (event["quota_type"], event["policy"]) for event in refused} == BY


def test_who_asked_was_opened_or_refused(played: Played) -> None:
    """The broker looks up the oldest message for each producer that asks: a point of the collector that is not that of refusals."""
    asked, opened, refused = Counter[str](), Counter[str](), Counter[str]()
    for event in played.all_events:
        if event["type"] == "quota_check" and event.get("cause") == "producer":
            asked[event["topic"]] += 1
        elif event["type"] == "producer_open":
            opened[event["topic"]] += 1
        elif event["type"] == "producer_refused":
            refused[event["topic"]] += event.get("commands", 1)
    assert len(refused) == len(BY)
    assert asked == opened + refused
