-- Which subscriptions hold the oldest unacknowledged entries now, and does the broker name the same ones?
-- One row per subscription with a backlog, the oldest first; an age that is null (published before the log began) counts as the oldest.
--   rank               in its topic, 1 = oldest; equal ages share a rank
--   age_ms             of its own oldest unacknowledged entry
--   behind_ms          how much younger that is than the topic's oldest
--   named_by_broker    the broker names this one oldest (oldestBacklogMessageSubscriptionName)
--   age_share          of the topic's age limit, by its own age; null: no limit
SELECT
  broker, epoch, topic, subscription,
  rank() OVER (PARTITION BY broker, epoch, topic ORDER BY age_ms DESC NULLS FIRST) AS rank,
  age_ms,
  max(age_ms) OVER (PARTITION BY broker, epoch, topic) - age_ms AS behind_ms,
  exact_to_ms,
  subscription <=> believed_oldest AS named_by_broker,
  believed_age_s,
  CASE WHEN limit_s > 0 THEN age_ms / (limit_s * 1e3) END AS age_share,
  limit_s, policy_time, msg_backlog, backlog_messages, backlog_size, unacked_entries, durable, as_of, complete
FROM backlog_now
WHERE msg_backlog > 0
ORDER BY age_ms DESC NULLS FIRST, topic, subscription
