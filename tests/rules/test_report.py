"""When the policies of a limit are reported: at each change, once, and when the limit ends."""

from lane_tables import tables_of
from log_builder import SUB, TOPIC, Log
from test_precedence import apply, put, shown


def test_the_same_rate_applied_again_is_not_reported_again() -> None:
    log = put(Log().start(), "topic", "topic_dispatch_rate", 50, 0)
    for second in range(5):
        apply(log.at(second), "topic", 50, 0, "topic").add("quota_check", topic=TOPIC, duration_us=1)
    assert len(shown(log, "topic_dispatch_rate")) == 1


def test_a_shadowed_change_is_reported_at_the_next_check() -> None:
    log = apply(put(Log().start(), "topic", "topic_dispatch_rate", 50, 0), "topic", 50, 0, "topic")
    put(log.at(3), "namespace", "topic_dispatch_rate", 70, 0).at(9).add("quota_check", topic=TOPIC, duration_us=1)
    rows = [row for row in tables_of(log.events)["policies"] if row["set_by"] == "namespace"]
    (row,) = rows
    assert (row["msg_rate"], row["in_force"], row["shadowed_by"]) == (70, False, "topic")
    assert row["seen_at"] - row["set_at"] == 6_000_000


def test_the_broker_is_reported_at_a_heartbeat_for_it_applies_before_it_writes_what_is_set() -> None:
    log = apply(Log().start(), "broker", 1000, 0, "dynamic_config")
    put(log, "dynamic_config", "broker_dispatch_rate", 1000, 0).at(1).add("heartbeat", dropped=0)
    assert shown(log, "broker_dispatch_rate") == [("dynamic_config", 1000, 0, "none")]


def test_a_relative_rate_has_the_publish_average_beside_it() -> None:
    log = Log().start().add("publish_rate", topic=TOPIC, avg_msgs_per_s=30, avg_bytes_per_s=400)
    log.rate("topic", 20, relative=True).rate("subscription", 10)
    rows = [(row["publish_msgs_per_s"], row["publish_bytes_per_s"]) for row in tables_of(log.events)["policies"] if row["applied_relative"]]
    assert rows == [(30, 400)]


def test_limits_end_with_their_topic_or_dispatcher() -> None:
    log = put(put(Log().start(), "topic", "topic_dispatch_rate", 50, 0), "topic", "subscription_dispatch_rate", 5, 0)
    apply(apply(log, "topic", 50, 0, "topic"), "subscription", 5, 0, "topic").at(1).add("dispatcher_close", topic=TOPIC, sub=SUB)
    log.at(2).add("topic_unload", topic=TOPIC)
    ends = [row for row in tables_of(log.events)["policies"] if not row["in_force"] and row["set_by"] is None]
    ends.sort(key=lambda row: row["seen_seq"])
    assert [row["limit_kind"] for row in ends] == ["subscription_dispatch_rate", "topic_dispatch_rate"]


def test_topics_of_pulsar_itself_are_left_out() -> None:
    """Their load is not in the log, and a namespace's rate does not rule them: nobody could tell a disagreement."""
    log = put(Log().start(), "namespace", "topic_dispatch_rate", 50, 0)
    apply(log, "topic", 100, 0, "broker_config").events[-1]["topic"] = "persistent://shop/eu/__change_events"
    assert not [row for row in tables_of(log.events)["policies"] if row["topic"]]
