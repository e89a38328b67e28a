"""What a partitioned topic, a namespace and a broker have in all: the views over small logs of the production lane."""

from collections.abc import Callable
from typing import Any

import partition_logs as logs
import pytest
from captured_warehouse import room_over
from partition_logs import ORDERS

from pipeline.query.room import ReadingRoom


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> ReadingRoom:
    """Every scenario, each in a cluster of its own."""
    return room_over(logs.every_scenario(), tmp_path_factory.mktemp("partitions"))


ASKED = (
    "brokers",
    "topic_backlog_now",
    "backlog_now",
    "partitioned_topic_backlog",
    "namespace_backlog",
    "broker_evictions",
    "partitioned_subscription_throttle",
    "namespace_throttle",
)
Ask = Callable[[str, str, str], list[tuple[Any, ...]]]


@pytest.fixture(scope="module")
def ask(room: ReadingRoom) -> Ask:
    """`ask(view, cluster, columns)`: rows of the view, in its order. Each view is read once for all tests."""
    rows = {view: room.rows(f"SELECT * FROM {view}") for view in ASKED}

    def answer(view: str, cluster: str, columns: str) -> list[tuple[Any, ...]]:
        of_cluster = [row for row in rows[view] if row["broker"].startswith(f"{cluster}-b")] if view == "backlog_now" else [
            row for row in rows[view] if row["cluster"] == cluster]  # fmt: skip
        return [tuple(row[name] for name in columns.split(", ")) for row in of_cluster]

    return answer


@pytest.mark.parametrize(
    ("cluster", "age_s", "subscription", "pulsar_age_s"), [("B26", 7, "x", 7), ("B26-none", -1, None, 0)], ids=["B26", "B26-all-none"]
)
def test_b26_the_age_is_the_greatest_its_name_the_first_and_pulsar_s_limit_the_last(
    ask: Ask, cluster: str, age_s: int, subscription: str | None, pulsar_age_s: int
) -> None:
    partitions = ask("topic_backlog_now", cluster, "partition, age_s, limit_s")
    assert sorted(partitions) == [(0, -1, 10), (1, age_s, 20), (2, age_s, 30)]
    found = ask("partitioned_topic_backlog", cluster, "partitioned_topic, partitions, age_s, oldest_subscription, oldest_partition")
    assert found == [(ORDERS, 3, age_s, subscription, 1 if subscription else None)]
    pulsar = "pulsar_age_s, pulsar_oldest_subscription, pulsar_limit_s, pulsar_limit_size"
    assert ask("partitioned_topic_backlog", cluster, pulsar) == [(pulsar_age_s, subscription, 30, 30 * 1024)]
    assert ask("partitioned_topic_backlog", cluster, "limit_s, limit_size, limits_differ") == [(10, 10 * 1024, True)]


def test_the_use_of_a_limit_is_that_of_the_partition_that_trips_first(ask: Ask) -> None:
    """Of 7 s and 1 KiB, partition 1 may have 20 s and 20 KiB. Pulsar's figures divided are 7 / 30 and 2 / 30."""
    columns = "age_share, age_share_partition, size_share, size_share_partition, pulsar_age_share, pulsar_size_share"
    assert ask("partitioned_topic_backlog", "B26", columns) == [(7 / 20, 1, 1 / 20, 1, 7 / 30, 2 / 30)]
    found = ask("topic_backlog_now", "B26", "partition, age_share, size_share")
    assert found == [(1, 7 / 20, 1 / 20), (2, 7 / 30, 1 / 30), (0, None, 0.0)]


def test_one_partition_behind_among_many_is_seen_at_first_sight(ask: Ask) -> None:
    columns = "partitions, partitions_unseen, brokers, backlog_size, worst_partition, worst_backlog_size, worst_share, skew"
    assert ask("partitioned_topic_backlog", "one_behind", columns) == [(4, 1, 2, 50 * 1024, 3, 47 * 1024, 0.94, 3.76)]
    columns = "msg_backlog, subscriptions, size_share, size_share_partition, limits_differ"
    assert ask("partitioned_topic_backlog", "one_behind", columns) == [(1 + 1 + 2 * 47 + 2, 2, 47 / 64, 3, False)]


def test_without_a_backlog_no_partition_is_the_worst_and_of_equal_ones_it_is_the_first(ask: Ask) -> None:
    columns = "backlog_size, worst_partition, worst_share, skew"
    assert ask("partitioned_topic_backlog", "B26-none", columns) == [(0, None, None, None)]
    assert ask("partitioned_topic_backlog", "B26", columns) == [(2048, 1, 0.5, 1.5)]


def test_a_partition_that_moved_is_counted_once_where_it_is_now(ask: Ask) -> None:
    assert ask("partitioned_topic_backlog", "moved", "partitions, brokers, backlog_size, msg_backlog") == [(2, 2, 8 * 1024, 8)]
    assert sorted(ask("topic_backlog_now", "moved", "partition, broker, msg_backlog")) == [(0, "moved-b2", 3), (1, "moved-b1", 5)]
    assert sorted(ask("backlog_now", "moved", "broker, msg_backlog")) == [("moved-b1", 5), ("moved-b2", 3)]


def test_of_a_broker_that_died_only_what_nobody_has_since_counts(ask: Ask) -> None:
    assert ask("partitioned_topic_backlog", "died", "partitions, brokers, msg_backlog") == [(2, 2, 3)]
    found = ask("topic_backlog_now", "died", "partition, broker, epoch, msg_backlog")
    assert sorted(found) == [(0, "died-b2", 2, 1), (1, "died-b1", 200_000, 2)]


def test_a_namespace_has_the_sum_of_its_topics_over_all_brokers_and_no_age(ask: Ask, room: ReadingRoom) -> None:
    columns = "tenant, namespace, topics, brokers, backlog_size, size_unknown, msg_backlog, worst_topic, worst_share"
    found = ask("namespace_backlog", "one_behind", columns)
    assert found == [("shop", "shop/eu", 6, 2, 150 * 1024, 1, 198, ORDERS, 100 / 150)]
    assert not [name for name in room.ask("SELECT * FROM namespace_backlog").columns if name.startswith(("age", "oldest", "limit"))]


def test_a_topic_without_partitions_is_no_partitioned_topic(ask: Ask) -> None:
    found = ask("topic_backlog_now", "one_behind", "topic, partitioned_topic, partition")
    assert (ORDERS, ORDERS, -1) in found
    assert len(ask("partitioned_topic_backlog", "one_behind", "partitioned_topic")) == 1


def test_a_broker_s_evictions_fall_with_an_unload_as_pulsar_s_do_and_beside_them_they_do_not(ask: Ask) -> None:
    found = ask("broker_evictions", "evicting", "broker, quota_type, evictions, evictions_durable, topics, entries_evicted")
    assert found == [("evicting-b1", "size", 0, 2, 1, 6), ("evicting-b1", "time", 1, 1, 1, 1)]
    evictions = ", ".join(f"storage_backlog_quota_exceeded_evictions_{kind}" for kind in ("size", "time"))
    assert ask("partitioned_topic_backlog", "evicting", f"partitions, {evictions}") == [(1, 0, 1)]
    assert ask("namespace_backlog", "evicting", evictions) == [(0, 1)]


COUNTERS = ", ".join(
    f"dispatch_throttled_{dimension}_events_by_{level}_limit_since_open"
    for dimension in ("msg", "bytes")
    for level in ("broker", "topic", "subscription")
)


def test_counters_of_a_subscription_are_summed_over_its_partitions_open_dispatchers(ask: Ask) -> None:
    columns = f"subscription, partitioned_topic, partitions, partitions_throttled, brokers, {COUNTERS}"
    assert ask("partitioned_subscription_throttle", "throttled", columns) == [
        ("billing", ORDERS, 3, 2, 2, 0, 5, 0, 0, 0, 0),  # 1 and 4: the 9 of the dispatcher that was closed went with it
        ("audit", ORDERS, 1, 0, 1, 0, 0, 0, 0, 0, 0),
    ]


def test_the_partition_that_is_held_back_is_named_with_its_share(ask: Ask) -> None:
    columns = "subscription, reads, reads_blocked, blocked_s, most_blocked_partition, most_blocked_share, blocked_skew"
    assert ask("partitioned_subscription_throttle", "throttled", columns)[0] == ("billing", 2 + 1 + 5, 4, 4.0, 2, 1.0, 3.0)
    waiting = "waiting_entries, most_waiting_partition, most_waiting_entries, most_waiting_share, waiting_skew"
    found = ask("partitioned_subscription_throttle", "throttled", waiting)[0]
    assert found[:3] == (2 + 1 + 8, 2, 8)
    assert found[3:] == pytest.approx((8 / 11, 24 / 11))


def test_a_dispatcher_that_moved_is_counted_once_and_one_that_is_closed_not_at_all(ask: Ask) -> None:
    columns = "subscription, partitions, brokers, throttled_events, blocked_s"
    assert ask("partitioned_subscription_throttle", "throttle_moved", columns) == [("billing", 1, 1, 1, 1.0)]


def test_a_namespace_s_counters_are_summed_over_its_subscriptions_and_the_worst_is_named(ask: Ask) -> None:
    columns = f"namespace, topics, dispatchers, brokers, {COUNTERS}, worst_subscription, worst_blocked_s, worst_throttled_events"
    assert ask("namespace_throttle", "throttled", columns) == [
        ("shop/eu", 3, 4, 2, 0, 5, 0, 0, 0, 0, "billing", 4.0, 5),
        ("bank/eu", 1, 1, 1, 0, 2, 0, 0, 0, 0, "audit", 0.0, 2),
    ]


def test_every_broker_has_the_cluster_and_version_of_its_newest_start(ask: Ask) -> None:
    found = ask("brokers", "died", "broker, version, started_epoch")
    assert sorted(found) == [("died-b1", "4.0.8", 200_000), ("died-b2", "4.0.8", 2)]


@pytest.mark.parametrize("table", ["topic_backlog", "subscription_throttle"])
def test_what_a_row_belongs_to_joins_to_any_table_with_a_topic(room: ReadingRoom, table: str) -> None:
    joined = room.rows(f"SELECT tenant, cluster FROM {table} LEFT JOIN topics USING (topic) LEFT JOIN brokers USING (broker)")
    assert [(len(joined),)] == room.ask(f"SELECT count(*) FROM {table}").rows
    assert len(joined) > 5
    assert all(row["tenant"] in ("shop", "bank") and row["cluster"] for row in joined)
