-- Which subscriptions lose messages if a backlog quota evicts?
-- One row per check, quota type whose policy evicts, and subscription with a backlog that it takes from.
--   named   the broker names it oldest: an eviction takes from it first
--   Beside it, for size, durable ones with more than 9/10 of the topic's backlog size, or of the limit if that is exceeded: an eviction
--   down to 9/10 of the limit comes to them.
--   For age, those whose oldest entry will be older than 9/10 of the limit at the first check after the deadline, or is at this one if
--   the limit is exceeded (for not precise checks it may be fewer: only whole ledgers go).
WITH pairs AS (
  SELECT t.broker, t.epoch, t.topic, t.check_number, t.policy_size, t.policy_time, s.subscription, s.backlog_size,
    t.oldest_backlog_message_subscription_name <=> s.subscription AS named,
    s.durable AND s.backlog_size > 0.9D * least(t.backlog_size, t.backlog_quota_limit_size) AS by_size,
    unix_micros(s.oldest_publish_time) + t.backlog_quota_limit_time * 900000D < unix_micros(t.check_time) + coalesce(i.interval_s, 0) * 1e6
      * greatest(0, ceil((unix_micros(t.oldest_believed_time) - unix_micros(t.check_time) + t.backlog_quota_limit_time * 1e6 + 1000)
        / 1e6 / i.interval_s)) AS by_time,
    t.backlog_quota_limit_size, t.backlog_quota_limit_time
  FROM topic_backlog t
  JOIN subscription_backlog s
    ON s.broker = t.broker AND s.epoch = t.epoch AND s.topic = t.topic AND s.check_number = t.check_number AND s.msg_backlog > 0
  JOIN check_intervals i ON i.broker = t.broker AND i.epoch = t.epoch
  WHERE t.policy_size = 'consumer_backlog_eviction' OR t.policy_time = 'consumer_backlog_eviction'
)
SELECT broker, epoch, topic, check_number, 'size' AS quota_type, subscription, named, backlog_size
FROM pairs
WHERE policy_size = 'consumer_backlog_eviction' AND backlog_quota_limit_size >= 0 AND (named OR by_size)
UNION ALL
SELECT broker, epoch, topic, check_number, 'time' AS quota_type, subscription, named, backlog_size
FROM pairs
WHERE policy_time = 'consumer_backlog_eviction' AND backlog_quota_limit_time > 0 AND (named OR by_time)
