"""The main cause of every subscription of which a capture's manifest says what holds it back (`what` in manifest.json)."""

from functools import cache

import pytest
from capture_events import capture_events
from lane_tables import tables_of
from real_captures import CAPTURES, NEEDS_CAPTURES

pytestmark = [pytest.mark.captures, NEEDS_CAPTURES]

Cause = tuple[str | None, ...]
#: What did a subscription no good before its consumers came, and after they left, is not what the manifest speaks of.
ABSENT: Cause = ("no_consumer",)
OF_SUBSCRIPTION: Cause = ("throttled", "subscription", "msg")
OF_TOPIC_BYTES: Cause = ("throttled", "topic", "bytes")
SLOW: Cause = ("no_permits",)

#: (capture, topic, subscription) → causes that share the main place, while there was a consumer, by entries × time.
EXPECTED: dict[tuple[str, str, str], set[Cause]] = {
    # "A message limit of 20/s on every subscription of one topic (Shared and Exclusive)."
    ("a_sub_msg_limit", "a/limited", "shared"): {OF_SUBSCRIPTION},
    ("a_sub_msg_limit", "a/limited", "exclusive"): {OF_SUBSCRIPTION},
    # "A second topic has no limit."
    ("a_sub_msg_limit", "a/free", "s"): {("catching_up",)},
    # "A broker limit of 60 messages/s and 50 KB/s …; two topics with three subscriptions share it."
    **{
        ("c_broker_limit", f"c/{topic}", sub): {("throttled", "broker", "msg"), ("throttled", "broker", "bytes")}
        for topic, sub in (("one", "s1"), ("one", "s2"), ("two", "s1"))
    },
    # "No limit anywhere; one consumer takes 50 ms for a message (receiver queue 50), another is fast."
    ("e_slow_consumer", "e/t", "slow"): {SLOW},
    ("e_slow_consumer", "e/t", "fast"): {("in_flight",)},
    # "Every read asks for 100 and is shrunk, though nothing is ever late."
    ("f_limit_above_need", "f/t", "s"): {("in_flight",)},
    # "`slow` acknowledges 8/s, `holes` leaves every third message."
    ("h_size_quota_eviction", "h/t", "slow"): {SLOW},
    ("h_size_quota_eviction", "h/t", "holes"): {SLOW},
    # "`slow` acknowledges 5/s of 12/s. … `fresh` one of 30 s that it never reaches."
    ("i_age_quota_precise", "i/t", "slow"): {SLOW},
    ("i_age_quota_precise", "i/fresh", "s"): {("in_flight",)},
    # "Limits at topic and subscription level."
    ("m_unload", "m/t", "s"): {OF_SUBSCRIPTION},
    # "Stopped by SIGSTOP for 9 s, twice …: the channel is unwritable … A second client, not stopped, reads the same."
    ("o_unwritable", "o/one", "stopped"): {("channel",)},
    ("o_unwritable", "o/two", "stopped"): {("channel",)},
    ("o_unwritable", "o/one", "free"): {("in_flight",)},
    # "Batches of 50 messages against a limit of 100 messages/s of the subscription, … against 60/s of the topic."
    ("p1_batches", "p1/t", "shared"): {OF_SUBSCRIPTION},
    ("p1_batches", "p1/mixed", "s"): {("throttled", "topic", "msg")},
    # "Topic 70 messages/s with subscriptions of 40/s, another topic 25 KB in 2 s."
    ("r_classic_limiter", "r/t", "shared"): {OF_SUBSCRIPTION, ("throttled", "topic", "msg")},
    ("r_classic_limiter", "r/t", "exclusive"): {OF_SUBSCRIPTION, ("throttled", "topic", "msg")},
    ("r_classic_limiter", "r/bytes", "keys"): {OF_TOPIC_BYTES},
    # "The broker is stopped and started again in mid-run (two epochs in one log), with limits."
    ("t_restart", "t/x", "s"): {OF_SUBSCRIPTION},
    # "`payments#ledger` held back by its own limit of 60 messages/s; `payments#fraud` not limited but slow."
    ("y_incident", "y/payments", "ledger"): {OF_SUBSCRIPTION},
    ("y_incident", "y/payments", "fraud"): {SLOW},
    # "`orders` under a topic limit of 40 KB/s that two subscriptions share."
    ("y_incident", "y/orders", "billing"): {OF_TOPIC_BYTES},
    ("y_incident", "y/orders", "warehouse"): {OF_TOPIC_BYTES},
    # "`emails` caught up under a limit it never needs", but for "a broker limit of 900 messages/s set in the middle for 20 s".
    ("y_incident", "y/emails", "sender"): {("throttled", "broker", "msg")},
    ("y_incident", "y/audit", "search"): {("throttled", "broker", "msg")},
    # "`audit` over its size quota with eviction; `clicks` over its age quota": the consumers of both are slow.
    ("y_incident", "y/audit", "archive"): {SLOW},
    ("y_incident", "y/clicks", "stats"): {SLOW},
    # "`images#thumbnails` a client that hangs (SIGSTOP) with a full channel."
    ("y_incident", "y/images", "thumbnails"): {("channel",)},
}
#: Subscriptions that never have a consumer: "never reads", "without any consumer".
NEVER_READ = {
    ("h_size_quota_eviction", "h/t", "idle"),
    ("h_size_quota_eviction", "h/big", "s"),
    ("i_age_quota_precise", "i/t", "idle"),
    ("i_age_quota_precise", "i/one-second", "idle"),
    ("m_unload", "m/t", "idle"),
    ("t_restart", "t/x", "idle"),
    ("y_incident", "y/refunds", "desk"),
}


@cache
def charged(capture: str) -> dict[tuple[str, str], dict[Cause, int]]:
    """(topic, subscription) → cause → entries × time."""
    found: dict[tuple[str, str], dict[Cause, int]] = {}
    for row in tables_of(capture_events(CAPTURES / capture, until_as_of=False))["subscription_causes"]:
        cause = tuple(row[name] for name in ("cause", "level", "dimension", "unknown_reason") if row[name] is not None)
        charges = found.setdefault((row["topic"], row["subscription"]), {})
        charges[cause] = charges.get(cause, 0) + row["entry_us"]
    return found


@pytest.mark.parametrize(("capture", "topic", "subscription"), EXPECTED)
def test_main_cause_is_what_the_manifest_says(capture: str, topic: str, subscription: str) -> None:
    charges = charged(capture)[f"persistent://real/{topic}", subscription]
    with_consumers = {cause: area for cause, area in charges.items() if cause != ABSENT}
    expected = EXPECTED[capture, topic, subscription]
    share = sum(with_consumers.get(cause, 0) for cause in expected) / sum(with_consumers.values())
    assert max(with_consumers, key=lambda cause: with_consumers[cause]) in expected
    assert share > 0.5, with_consumers


@pytest.mark.parametrize(("capture", "topic", "subscription"), sorted(NEVER_READ))
def test_without_a_consumer_there_is_no_other_cause(capture: str, topic: str, subscription: str) -> None:
    assert set(charged(capture)[f"persistent://real/{topic}", subscription]) == {ABSENT}


def test_the_broker_limit_of_the_incident_held_back_those_that_are_caught_up_else() -> None:
    """For 20 s; the topic and subscription limits of others stay their main cause."""
    charges = charged("y_incident")
    held = {key for key, causes in charges.items() if causes.get(("throttled", "broker", "msg"), 0) > 0.1 * sum(causes.values())}
    assert {
        ("persistent://real/y/emails", "sender"),
        ("persistent://real/y/audit", "search"),
        ("persistent://real/y/images", "cdn"),
    } <= held


def test_nothing_is_unknown_or_stuck_on_whole_logs_of_healthy_brokers() -> None:
    for capture in {capture for capture, _, _ in EXPECTED}:
        for causes in charged(capture).values():
            assert not {cause[0] for cause in causes} & {"unknown", "stuck"}, capture
