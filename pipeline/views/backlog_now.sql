-- How far behind is every subscription now, and how much of its topic's quotas is used?
-- One row per topic and subscription of its latest check, the largest share of a limit first; a topic without subscriptions has one row.
-- Left out are topics that their broker no longer checks (unloaded) and epochs before its newest.
--   as_of                    the check; nothing later is known
--   msg_backlog, backlog_messages, backlog_size   the subscription's own: entries, messages (null: an entry was not seen published), bytes
--   age_ms                   of its oldest unacknowledged entry, exact to exact_to_ms; null: none, or not seen published
--   unacked_entries          delivered and not acknowledged (an estimate with redeliveries)
--   topic_backlog_size, believed_age_s, believed_oldest   as the broker shows them: from its slowest durable cursor; −1 = none
--   true_age_ms              of the oldest entry that any subscription of the topic has not acknowledged
--   size_share, age_share    of the topic's limits, by the broker's figures; null: no limit
--   storage_backlog_quota_exceeded_evictions_*   Pulsar's own counters, since the topic was loaded
--   decision                 what the check decided: none, size, time or unknown
WITH latest AS (
  SELECT broker, epoch, topic, max(check_number) AS check_number
  FROM topic_backlog
  GROUP BY broker, epoch, topic
)
SELECT
  t.broker, t.epoch, t.topic, s.subscription, t.check_time AS as_of,
  s.msg_backlog, s.backlog_messages, s.backlog_size, s.oldest_age_ms AS age_ms, s.exact_to_ms, s.unacked_entries, s.durable, s.opened_at,
  t.backlog_size AS topic_backlog_size,
  t.backlog_quota_limit_size AS limit_size,
  t.policy_size,
  CASE WHEN t.backlog_quota_limit_size > 0 THEN t.backlog_size / t.backlog_quota_limit_size END AS size_share,
  t.oldest_backlog_message_age_seconds AS believed_age_s,
  t.oldest_backlog_message_subscription_name AS believed_oldest,
  unix_millis(t.check_time) - unix_millis(t.true_oldest_publish_time) AS true_age_ms,
  t.backlog_quota_limit_time AS limit_s,
  t.policy_time,
  CASE WHEN t.backlog_quota_limit_time > 0 AND t.oldest_backlog_message_age_seconds >= 0
    THEN t.oldest_backlog_message_age_seconds / t.backlog_quota_limit_time END AS age_share,
  t.storage_backlog_quota_exceeded_evictions_size, t.storage_backlog_quota_exceeded_evictions_time,
  t.decision, t.subscriptions, t.producers, t.complete AND coalesce(s.complete, true) AS complete
FROM latest l
JOIN check_intervals i ON i.broker = l.broker AND i.epoch = l.epoch AND i.newest
JOIN topic_backlog t ON t.broker = l.broker AND t.epoch = l.epoch AND t.topic = l.topic AND t.check_number = l.check_number
LEFT JOIN subscription_backlog s
  ON s.broker = l.broker AND s.epoch = l.epoch AND s.topic = l.topic AND s.check_number = l.check_number
WHERE i.interval_s IS NULL OR unix_micros(i.last_check_at) - unix_micros(t.check_time) < 2 * i.interval_s * 1000000
ORDER BY greatest(size_share, age_share) DESC NULLS LAST, s.msg_backlog DESC NULLS LAST, t.topic, s.subscription
