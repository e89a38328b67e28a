-- How large and how old is every topic's backlog now, and how much of its quotas does it use?
-- One row per topic of its latest check, the largest share of a limit first. A topic that moved, or whose broker is dead, has one row
-- only, of the newest check on any broker of its cluster. Left out are topics that their broker no longer checks (unloaded), and epochs
-- before its newest.
--   cluster … partition      to which the topic belongs, as in brokers and topics
--   as_of                    the check; nothing later is known
--   backlog_size, age_s, oldest_subscription   as the broker shows them: from its slowest durable cursor; age −1 = none, null = not in the log
--   oldest_believed_time     what that age counts from; believed_age_is_certain=false: the broker may have seen another oldest entry
--   msg_backlog              entries that its subscriptions have not acknowledged, added up over them; null: it has none
--   true_age_ms              of the oldest entry that any subscription of the topic has not acknowledged
--   size_share, age_share    the use of its limits as PIP-323 defines it: size ÷ limit and age ÷ limit; null: no limit, or no age
--   storage_backlog_quota_exceeded_evictions_*   Pulsar's own counters, since the topic was loaded; …_durable: since the broker started
--   decision                 decision of the check: none, size, time or unknown
WITH latest AS (
  SELECT broker, epoch, topic, max(check_number) AS check_number
  FROM topic_backlog
  GROUP BY broker, epoch, topic
),
placed AS (
  SELECT t.*, b.cluster,
    row_number() OVER (PARTITION BY b.cluster, t.topic ORDER BY t.check_time DESC, t.epoch DESC, t.broker) AS age
  FROM topic_backlog t
  JOIN latest l ON t.broker = l.broker AND t.epoch = l.epoch AND t.topic = l.topic AND t.check_number = l.check_number
  LEFT JOIN brokers b ON b.broker = t.broker
),
entries AS (
  SELECT s.broker, s.epoch, s.topic, s.check_number, sum(s.msg_backlog) AS msg_backlog
  FROM subscription_backlog s
  JOIN latest l ON s.broker = l.broker AND s.epoch = l.epoch AND s.topic = l.topic AND s.check_number = l.check_number
  GROUP BY s.broker, s.epoch, s.topic, s.check_number
)
SELECT
  p.cluster, n.tenant, n.namespace, coalesce(n.partitioned_topic, p.topic) AS partitioned_topic, coalesce(n.partition, -1) AS partition,
  p.broker, p.epoch, p.topic, p.check_time AS as_of, p.check_number,
  p.backlog_size, p.storage_size, e.msg_backlog,
  p.backlog_quota_limit_size AS limit_size,
  p.policy_size,
  CASE WHEN p.backlog_quota_limit_size > 0 THEN p.backlog_size / p.backlog_quota_limit_size END AS size_share,
  p.oldest_backlog_message_age_seconds AS age_s,
  p.oldest_backlog_message_subscription_name AS oldest_subscription,
  p.oldest_believed_time, p.believed_age_is_certain,
  unix_millis(p.check_time) - unix_millis(p.true_oldest_publish_time) AS true_age_ms,
  p.backlog_quota_limit_time AS limit_s,
  p.policy_time,
  CASE WHEN p.backlog_quota_limit_time > 0 AND p.oldest_backlog_message_age_seconds >= 0
    THEN p.oldest_backlog_message_age_seconds / p.backlog_quota_limit_time END AS age_share,
  p.storage_backlog_quota_exceeded_evictions_size, p.storage_backlog_quota_exceeded_evictions_time,
  p.storage_backlog_quota_exceeded_evictions_size_durable, p.storage_backlog_quota_exceeded_evictions_time_durable,
  p.decision, p.subscriptions, p.producers, p.complete
FROM placed p
JOIN check_intervals i ON i.broker = p.broker AND i.epoch = p.epoch AND i.newest
LEFT JOIN topics n ON n.topic = p.topic
LEFT JOIN entries e ON e.broker = p.broker AND e.epoch = p.epoch AND e.topic = p.topic AND e.check_number = p.check_number
WHERE p.age = 1 AND (i.interval_s IS NULL OR unix_micros(i.last_check_at) - unix_micros(p.check_time) < 2 * i.interval_s * 1000000)
ORDER BY greatest(size_share, age_share) DESC NULLS LAST, p.backlog_size DESC NULLS LAST, p.topic
