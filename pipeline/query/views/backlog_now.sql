-- How far behind is every subscription now, and how much of its topic's quotas is used?
-- One row per topic and subscription of its latest check, the largest share of a limit first; a topic without subscriptions has one row.
-- Topics are those of topic_backlog_now: each on the broker that has it now.
--   as_of                    the check; nothing later is known
--   msg_backlog, backlog_messages, backlog_size   the subscription's own: entries, messages (null: an entry was not seen published), bytes
--   age_ms                   of its oldest unacknowledged entry, exact to exact_to_ms; null: none, or not seen published
--   unacked_entries          entries that the broker counts as unacknowledged; 0 of Exclusive and Failover
--   topic_backlog_size, believed_age_s, believed_oldest   as the broker shows them: from its slowest durable cursor; −1 = none
--   true_age_ms              of the oldest entry that any subscription of the topic has not acknowledged
--   size_share, age_share    of the topic's limits, by the broker's figures; null: no limit
--   storage_backlog_quota_exceeded_evictions_*   Pulsar's own counters, since the topic was loaded
--   decision                 decision of the check: none, size, time or unknown
SELECT
  t.broker, t.epoch, t.topic, s.subscription, t.as_of,
  s.msg_backlog, s.backlog_messages, s.backlog_size, s.oldest_age_ms AS age_ms, s.exact_to_ms, s.unacked_entries, s.durable, s.opened_at,
  t.backlog_size AS topic_backlog_size, t.limit_size, t.policy_size, t.size_share,
  t.age_s AS believed_age_s, t.oldest_subscription AS believed_oldest, t.true_age_ms, t.limit_s, t.policy_time, t.age_share,
  t.storage_backlog_quota_exceeded_evictions_size, t.storage_backlog_quota_exceeded_evictions_time,
  t.decision, t.subscriptions, t.producers, t.complete AND coalesce(s.complete, true) AS complete
FROM topic_backlog_now t
LEFT JOIN subscription_backlog s
  ON s.broker = t.broker AND s.epoch = t.epoch AND s.topic = t.topic AND s.check_number = t.check_number
ORDER BY greatest(t.size_share, t.age_share) DESC NULLS LAST, s.msg_backlog DESC NULLS LAST, t.topic, s.subscription
