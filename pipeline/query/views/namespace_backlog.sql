-- How large is the backlog of every namespace now, and which topic has most of it?
-- One row per cluster and namespace, the largest backlog first: its topics in topic_backlog_now, partitions and system topics among them,
-- added up over all brokers as each broker adds up its own for the series of namespaces (exposeTopicLevelMetricsInPrometheus=false).
-- There is no age and no limit: Pulsar shows neither for a namespace (PIP-323: age is of a topic).
--   namespace                null: topics whose name no broker would take
--   topics, size_unknown     added up here; of them without a size, because the log does not show their life (system topics): sums lack them
--   subscriptions, producers sums over the topics, as Pulsar counts them
--   storage_backlog_quota_exceeded_evictions_*   since each topic was loaded: the sum falls when a topic is unloaded, as Pulsar's does;
--                            …_durable: since its broker started
--   topics_exceeding         topics whose latest check found a quota exceeded
--   worst_topic, worst_backlog_size, worst_share   the topic with the largest backlog, and its share; null: there is no backlog
WITH added AS (
  SELECT cluster, tenant, namespace,
    count(*) AS topics,
    count(DISTINCT broker) AS brokers,
    min(as_of) AS as_of,
    sum(backlog_size) AS backlog_size,
    count(*) - count(backlog_size) AS size_unknown,
    sum(storage_size) AS storage_size,
    sum(msg_backlog) AS msg_backlog,
    sum(subscriptions) AS subscriptions,
    sum(producers) AS producers,
    sum(storage_backlog_quota_exceeded_evictions_size) AS storage_backlog_quota_exceeded_evictions_size,
    sum(storage_backlog_quota_exceeded_evictions_time) AS storage_backlog_quota_exceeded_evictions_time,
    sum(storage_backlog_quota_exceeded_evictions_size_durable) AS storage_backlog_quota_exceeded_evictions_size_durable,
    sum(storage_backlog_quota_exceeded_evictions_time_durable) AS storage_backlog_quota_exceeded_evictions_time_durable,
    count_if(decision IN ('size', 'time')) AS topics_exceeding,
    max_by(topic, struct(backlog_size, topic)) FILTER (WHERE backlog_size > 0) AS worst_topic,
    max(backlog_size) FILTER (WHERE backlog_size > 0) AS worst_backlog_size,
    bool_and(complete) AS complete
  FROM topic_backlog_now
  GROUP BY cluster, tenant, namespace
)
SELECT
  cluster, tenant, namespace, topics, brokers, as_of,
  backlog_size, size_unknown, storage_size, msg_backlog, subscriptions, producers,
  storage_backlog_quota_exceeded_evictions_size, storage_backlog_quota_exceeded_evictions_time,
  storage_backlog_quota_exceeded_evictions_size_durable, storage_backlog_quota_exceeded_evictions_time_durable,
  topics_exceeding,
  worst_topic, worst_backlog_size, worst_backlog_size / backlog_size AS worst_share,
  complete
FROM added
ORDER BY backlog_size DESC NULLS LAST, cluster, namespace
