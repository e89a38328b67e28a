"""What a partitioned topic, a namespace and a broker have in all: the views over small logs of the production lane."""

from typing import Any

import partition_logs as logs
import pytest
from lane_views import session_over
from partition_logs import ORDERS
from pyspark.sql import SparkSession

TABLES = ("names", "dispatch_events", "subscription_throttle", "topic_backlog", "subscription_backlog", "quota_evictions")
VIEWS = (
    "topics",
    "brokers",
    "subscription_totals",
    "subscription_throttle_now",
    "partitioned_subscription_throttle",
    "namespace_throttle",
    "check_intervals",
    "topic_backlog_now",
    "partitioned_topic_backlog",
    "namespace_backlog",
    "broker_evictions",
    "backlog_now",
)


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> SparkSession:
    """Every scenario, each in a cluster of its own."""
    return session_over(
        spark,
        [
            logs.ages("B26", (None, "x", "y")),
            logs.ages("B26-none", (None, None, None)),
            *logs.one_behind("one_behind"),
            *logs.moved("moved"),
            *logs.died("died"),
            logs.evicting("evicting"),
            *logs.throttled("throttled"),
            *logs.throttle_moved("throttle_moved"),
        ],
        TABLES,
        VIEWS,
    )


def ask(session: SparkSession, sql: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in session.sql(sql).collect()]


def partitioned(session: SparkSession, cluster: str, columns: str) -> list[tuple[Any, ...]]:
    return ask(session, f"SELECT {columns} FROM partitioned_topic_backlog WHERE cluster = '{cluster}'")


@pytest.mark.parametrize(
    ("cluster", "age_s", "subscription", "pulsar_age_s"), [("B26", 7, "x", 7), ("B26-none", -1, None, 0)], ids=["B26", "B26-all-none"]
)
def test_b26_the_age_is_the_greatest_its_name_the_first_and_pulsar_s_limit_the_last(
    session: SparkSession, cluster: str, age_s: int, subscription: str | None, pulsar_age_s: int
) -> None:
    assert ask(session, f"SELECT partition, age_s, limit_s FROM topic_backlog_now WHERE cluster = '{cluster}' ORDER BY partition") == [
        (0, -1, 10), (1, age_s, 20), (2, age_s, 30),
    ]  # fmt: skip
    assert partitioned(session, cluster, "partitioned_topic, partitions, age_s, oldest_subscription, oldest_partition") == [
        (ORDERS, 3, age_s, subscription, 1 if subscription else None)
    ]
    pulsar = "pulsar_age_s, pulsar_oldest_subscription, pulsar_limit_s, pulsar_limit_size"
    assert partitioned(session, cluster, pulsar) == [(pulsar_age_s, subscription, 30, 30 * 1024)]
    assert partitioned(session, cluster, "limit_s, limit_size, limits_differ") == [(10, 10 * 1024, True)]


def test_the_use_of_a_limit_is_that_of_the_partition_that_trips_first(session: SparkSession) -> None:
    """Of 7 s and 1 KiB, partition 1 may have 20 s and 20 KiB. Pulsar's figures divided would be 7 / 30 and 2 / 30."""
    columns = "age_share, age_share_partition, size_share, size_share_partition, pulsar_age_share, pulsar_size_share"
    assert partitioned(session, "B26", columns) == [(7 / 20, 1, 1 / 20, 1, 7 / 30, 2 / 30)]
    assert ask(session, "SELECT age_share, size_share FROM topic_backlog_now WHERE cluster = 'B26' ORDER BY partition") == [
        (None, 0.0), (7 / 20, 1 / 20), (7 / 30, 1 / 30),
    ]  # fmt: skip


def test_one_partition_behind_among_many_is_seen_at_first_sight(session: SparkSession) -> None:
    columns = "partitions, partitions_unseen, brokers, backlog_size, worst_partition, worst_backlog_size, worst_share, skew"
    assert partitioned(session, "one_behind", columns) == [(4, 1, 2, 50 * 1024, 3, 47 * 1024, 0.94, 3.76)]
    assert partitioned(session, "one_behind", "msg_backlog, subscriptions, size_share, size_share_partition, limits_differ") == [
        (1 + 1 + 2 * 47 + 2, 2, 47 / 64, 3, False)
    ]


def test_an_even_topic_has_a_skew_of_one_and_one_without_a_backlog_has_none(session: SparkSession) -> None:
    assert partitioned(session, "B26-none", "backlog_size, worst_partition, worst_share, skew") == [(0, None, None, None)]
    assert partitioned(session, "B26", "worst_partition, worst_share, skew") == [(1, 0.5, 1.5)]


def test_a_partition_that_moved_is_counted_once_where_it_is_now(session: SparkSession) -> None:
    assert partitioned(session, "moved", "partitions, brokers, backlog_size, msg_backlog") == [(2, 2, 8 * 1024, 8)]
    assert ask(session, "SELECT partition, broker, msg_backlog FROM topic_backlog_now WHERE cluster = 'moved' ORDER BY partition") == [
        (0, "moved-b2", 3), (1, "moved-b1", 5),
    ]  # fmt: skip
    assert ask(session, "SELECT broker, msg_backlog FROM backlog_now WHERE broker LIKE 'moved%' ORDER BY broker") == [
        ("moved-b1", 5), ("moved-b2", 3),
    ]  # fmt: skip


def test_of_a_broker_that_died_only_what_nobody_has_since_counts(session: SparkSession) -> None:
    assert partitioned(session, "died", "partitions, brokers, msg_backlog") == [(2, 2, 3)]
    assert ask(session, "SELECT partition, broker, epoch, msg_backlog FROM topic_backlog_now WHERE cluster = 'died' ORDER BY partition") == [
        (0, "died-b2", 2, 1), (1, "died-b1", 200_000, 2),
    ]  # fmt: skip


def test_a_namespace_has_the_sum_of_its_topics_over_all_brokers(session: SparkSession) -> None:
    columns = "tenant, namespace, topics, brokers, backlog_size, size_unknown, msg_backlog, worst_topic, worst_share"
    assert ask(session, f"SELECT {columns} FROM namespace_backlog WHERE cluster = 'one_behind'") == [
        ("shop", "shop/eu", 6, 2, 150 * 1024, 1, 198, ORDERS, 100 / 150)
    ]
    assert not [name for name in session.table("namespace_backlog").columns if name.startswith(("age", "oldest", "limit"))]


def test_a_topic_without_partitions_is_no_partitioned_topic(session: SparkSession) -> None:
    assert ask(session, "SELECT DISTINCT partition FROM topic_backlog_now WHERE cluster = 'one_behind' AND topic = partitioned_topic") == [
        (-1,)
    ]
    assert ask(session, "SELECT count(*) FROM partitioned_topic_backlog WHERE cluster = 'one_behind'") == [(1,)]


def test_the_same_names_in_two_clusters_are_two_topics(session: SparkSession) -> None:
    found = ask(session, f"SELECT cluster FROM partitioned_topic_backlog WHERE partitioned_topic = '{ORDERS}' ORDER BY cluster")
    assert [row[0] for row in found] == ["B26", "B26-none", "died", "evicting", "moved", "one_behind"]


def test_a_broker_s_evictions_fall_with_an_unload_as_pulsar_s_do_and_beside_them_they_do_not(session: SparkSession) -> None:
    columns = "broker, quota_type, evictions, evictions_durable, topics, entries_evicted"
    assert ask(session, f"SELECT {columns} FROM broker_evictions WHERE cluster = 'evicting' ORDER BY quota_type") == [
        ("evicting-b1", "size", 0, 2, 1, 6), ("evicting-b1", "time", 1, 1, 1, 1),
    ]  # fmt: skip
    evictions = ", ".join(f"storage_backlog_quota_exceeded_evictions_{kind}" for kind in ("size", "time"))
    assert partitioned(session, "evicting", f"partitions, {evictions}") == [(1, 0, 1)]
    assert ask(session, f"SELECT {evictions} FROM namespace_backlog WHERE cluster = 'evicting'") == [(0, 1)]


COUNTERS = ", ".join(
    f"dispatch_throttled_{dimension}_events_by_{level}_limit_since_open"
    for dimension in ("msg", "bytes")
    for level in ("broker", "topic", "subscription")
)


def throttle(session: SparkSession, cluster: str, columns: str) -> list[tuple[Any, ...]]:
    return ask(
        session, f"SELECT subscription, {columns} FROM partitioned_subscription_throttle WHERE cluster = '{cluster}' ORDER BY subscription"
    )


def test_counters_of_a_subscription_are_summed_over_its_partitions_open_dispatchers(session: SparkSession) -> None:
    assert throttle(session, "throttled", f"partitioned_topic, partitions, partitions_throttled, brokers, {COUNTERS}") == [
        ("audit", ORDERS, 1, 0, 1, 0, 0, 0, 0, 0, 0),
        ("billing", ORDERS, 3, 2, 2, 0, 5, 0, 0, 0, 0),  # 1 and 4; the 9 of the dispatcher that was closed went with it
    ]


def test_the_partition_that_is_held_back_is_named_with_its_share(session: SparkSession) -> None:
    columns = "reads, reads_blocked, blocked_s, most_blocked_partition, most_blocked_share, blocked_skew"
    assert throttle(session, "throttled", columns)[1] == ("billing", 2 + 1 + 5, 4, 4.0, 2, 1.0, 3.0)
    waiting = "waiting_entries, most_waiting_partition, most_waiting_entries, most_waiting_share, waiting_skew"
    found = throttle(session, "throttled", waiting)[1]
    assert found[1:4] == (2 + 2 + 8 - 1, 2, 8)
    assert found[4:] == pytest.approx((8 / 11, 24 / 11))


def test_a_dispatcher_that_moved_is_counted_once_and_one_that_is_closed_not_at_all(session: SparkSession) -> None:
    assert throttle(session, "throttle_moved", "partitions, brokers, throttled_events, blocked_s") == [("billing", 1, 1, 1, 1.0)]


def test_a_namespace_s_counters_are_summed_over_its_subscriptions_and_the_worst_is_named(session: SparkSession) -> None:
    columns = f"namespace, topics, dispatchers, brokers, {COUNTERS}, throttled_events, worst_subscription, worst_blocked_s, worst_throttled_events"
    assert ask(session, f"SELECT {columns} FROM namespace_throttle WHERE cluster = 'throttled'") == [
        ("shop/eu", 3, 4, 2, 0, 5, 0, 0, 0, 0, 5, "billing", 4.0, 5),
        ("bank/eu", 1, 1, 1, 0, 2, 0, 0, 0, 0, 2, "audit", 0.0, 2),
    ]


def test_every_broker_has_the_cluster_and_version_of_its_newest_start(session: SparkSession) -> None:
    assert ask(session, "SELECT broker, cluster, version, started_epoch FROM brokers WHERE broker LIKE 'died%' ORDER BY broker") == [
        ("died-b1", "died", "4.0.8", 200_000), ("died-b2", "died", "4.0.8", 2),
    ]  # fmt: skip


def test_what_a_topic_belongs_to_joins_to_any_table_with_a_topic(session: SparkSession) -> None:
    for table in ("topic_backlog", "subscription_backlog", "subscription_throttle", "quota_evictions"):
        rows = ask(
            session,
            f"SELECT count(*), count(tenant), count(cluster) FROM {table} LEFT JOIN topics USING (topic) LEFT JOIN brokers USING (broker)",
        )
        assert rows == [(session.table(table).count(),) * 3]
