-- Who lost how many entries to a backlog quota, who decided it, and did the broker do the same?
-- One row per decision and subscription that it moves, newest first; one row without a subscription where a decision moves none
-- (an eviction round that finds nothing, producers that are cut off).
--   decided_by        both; rules: only this project's rules decided it; broker: only the broker acted
--   exceeded_by       bytes for size, ms for time; quota_limit, target: bytes or s
--   entries_planned   that the rule takes from this subscription; entries_evicted: that it lost, by the log
--   decision_entries  lost by all subscriptions in this decision
--   agrees            the broker did what the rules decide; disagreement: the first rule on which they differ
SELECT
  e.broker, e.epoch, e.topic, e.decided_at, e.check_number, e.quota_type, e.policy, e.action,
  CASE WHEN e.action = 'none' THEN 'broker' WHEN e.broker_quota_type IS NULL THEN 'rules' ELSE 'both' END AS decided_by,
  e.quota_limit, e.exceeded_by, e.target, e.backlog_size_before, e.backlog_size_planned,
  m.subscription,
  coalesce(m.entries_planned, 0) AS entries_planned,
  coalesce(m.entries_evicted, 0) AS entries_evicted,
  e.entries_evicted AS decision_entries,
  m.agrees AS subscription_agrees,
  e.producers, e.producers_closed,
  e.broker_quota_type, e.broker_policy, e.broker_limit,
  e.agrees, e.disagreement, e.complete
FROM quota_evictions e
LEFT JOIN quota_eviction_moves m
  ON m.broker = e.broker AND m.epoch = e.epoch AND m.topic = e.topic AND m.check_number = e.check_number AND m.decided_at = e.decided_at
ORDER BY e.decided_at DESC, e.topic, m.subscription
