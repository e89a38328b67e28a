-- How large and how old is every partitioned topic's backlog now, is one partition behind the others, and which figures does Pulsar show?
-- One row per cluster and partitioned topic, the largest share of a limit first: its partitions in topic_backlog_now, added up as Pulsar's
-- partitioned-stats adds them. A topic without partitions is in topic_backlog_now only.
--   partitions, partitions_unseen   added up here; numbers below the highest one that are loaded nowhere, so far as the log shows
--   as_of                    the least recent of their latest checks
--   backlog_size … evictions sums over the partitions; size_unknown: partitions of which the log has no size: the sum lacks them
--   subscriptions            of the partition that has most
--   age_s, oldest_subscription, oldest_partition   the greatest age and whose it is, the lowest partition if several are; −1: none has one;
--                            null: none is known, and of some partition the log has none
--   limit_size, limit_s      the least limit of any partition: each partition has its own; null: none has one
--   limits_differ            partitions have different limits (or only some have one)
--   size_share, age_share    size ÷ limit and age ÷ limit (PIP-323) of the partition that uses most of its own limit: that one trips first
--   size_share_partition, age_share_partition   which one it is
--   worst_partition, worst_backlog_size   the one with the largest backlog, the lowest if several have it; null: there is no backlog
--   worst_share              its share of backlog_size: 1 = it has all of it
--   skew                     largest ÷ mean: 1 = even, as many as partitions = one has all of it
--   pulsar_*                 the figures of partitioned-stats: age 0 and no name where no partition has an age (it starts from 0), and
--                            the limits of the last partition, whatever those of the others are. pulsar_size_share, pulsar_age_share:
--                            its figures divided: the size of all partitions by the limit of one
WITH partitions AS (
  SELECT *, struct(age_s, -partition) AS by_age, struct(backlog_size, -partition) AS by_size
  FROM topic_backlog_now
  WHERE partition >= 0
),
added AS (
  SELECT cluster, tenant, namespace, partitioned_topic,
    count(*) AS partitions,
    max(partition) + 1 - count(*) AS partitions_unseen,
    count(DISTINCT broker) AS brokers,
    min(as_of) AS as_of,
    sum(backlog_size) AS backlog_size,
    count(*) - count(backlog_size) AS size_unknown,
    sum(storage_size) AS storage_size,
    sum(msg_backlog) AS msg_backlog,
    max(subscriptions) AS subscriptions,
    sum(storage_backlog_quota_exceeded_evictions_size) AS storage_backlog_quota_exceeded_evictions_size,
    sum(storage_backlog_quota_exceeded_evictions_time) AS storage_backlog_quota_exceeded_evictions_time,
    CASE WHEN max(age_s) > -1 OR count(age_s) = count(*) THEN max(age_s) END AS age_s,
    max_by(oldest_subscription, by_age) FILTER (WHERE age_s > -1) AS oldest_subscription,
    max_by(partition, by_age) FILTER (WHERE age_s > -1) AS oldest_partition,
    min(limit_size) FILTER (WHERE limit_size >= 0) AS limit_size,
    min(limit_s) FILTER (WHERE limit_s > 0) AS limit_s,
    count(DISTINCT greatest(limit_size, -1)) > 1 OR count(DISTINCT CASE WHEN limit_s > 0 THEN limit_s ELSE -1 END) > 1 AS limits_differ,
    max(size_share) AS size_share,
    max_by(partition, struct(size_share, -partition)) FILTER (WHERE size_share IS NOT NULL) AS size_share_partition,
    max(age_share) AS age_share,
    max_by(partition, struct(age_share, -partition)) FILTER (WHERE age_share IS NOT NULL) AS age_share_partition,
    max_by(partition, by_size) FILTER (WHERE backlog_size > 0) AS worst_partition,
    max(backlog_size) FILTER (WHERE backlog_size > 0) AS worst_backlog_size,
    max_by(limit_size, partition) AS pulsar_limit_size,
    max_by(limit_s, partition) AS pulsar_limit_s,
    bool_and(complete) AS complete
  FROM partitions
  GROUP BY cluster, tenant, namespace, partitioned_topic
),
as_pulsar AS (
  -- It keeps an age that is greater than the one so far, from 0 on, and takes its name along.
  SELECT *, CASE WHEN age_s IS NOT NULL THEN greatest(age_s, 0) END AS pulsar_age_s FROM added
)
SELECT
  cluster, tenant, namespace, partitioned_topic, partitions, partitions_unseen, brokers, as_of,
  backlog_size, size_unknown, storage_size, msg_backlog, subscriptions,
  storage_backlog_quota_exceeded_evictions_size, storage_backlog_quota_exceeded_evictions_time,
  age_s, oldest_subscription, oldest_partition,
  limit_size, limit_s, limits_differ,
  size_share, size_share_partition, age_share, age_share_partition,
  worst_partition, worst_backlog_size,
  worst_backlog_size / backlog_size AS worst_share,
  worst_backlog_size / backlog_size * (partitions - size_unknown) AS skew,
  pulsar_age_s,
  CASE WHEN age_s > 0 THEN oldest_subscription END AS pulsar_oldest_subscription,
  pulsar_limit_size, pulsar_limit_s,
  CASE WHEN pulsar_limit_size > 0 THEN backlog_size / pulsar_limit_size END AS pulsar_size_share,
  CASE WHEN pulsar_limit_s > 0 THEN pulsar_age_s / pulsar_limit_s END AS pulsar_age_share,
  complete
FROM as_pulsar
ORDER BY greatest(size_share, age_share) DESC NULLS LAST, backlog_size DESC NULLS LAST, cluster, partitioned_topic
