-- Which limits rule each topic and subscription now, and who set them?
-- One row per limiter and quota of the newest epoch of a broker that has one: the broker's own, of loaded topics, of open dispatchers.
--   msg_rate … quota_policy   values that the broker applied; where the log does not report them, the set values
--   msg_limit, byte_limit     permits per period: the rate, and for a relative one the publish average besides. Null: no limit.
--                             The average is that of the time when the limit changed last
--   set_by                    the place that sets it by the rules; 'nowhere': nothing limits it; 'not in this log': the log is of
--                             version 1.0, which has no places
--   policy_disagreement       the broker applied other values than the rules, and the row shows the applied values
WITH epochs AS (
  SELECT broker, max(epoch) AS epoch FROM policies GROUP BY broker
),
applied AS (
  SELECT s.broker, s.epoch, s.topic, s.subscription, s.limit_kind, s.set_by, s.set_at, s.since, s.policy_disagreement, s.complete,
    s.publish_msgs_per_s, s.publish_bytes_per_s,
    coalesce(s.applied_msg_rate, s.msg_rate) AS msg_rate, coalesce(s.applied_byte_rate, s.byte_rate) AS byte_rate,
    coalesce(s.applied_period_s, s.period_s) AS period_s, coalesce(s.applied_relative, s.relative) AS relative,
    coalesce(s.applied_limit, s.quota_limit) AS quota_limit, coalesce(s.applied_policy, s.quota_policy) AS quota_policy
  FROM policy_spans s
  JOIN epochs e ON e.broker = s.broker AND e.epoch = s.epoch
  WHERE s.until IS NULL AND s.in_force
)
SELECT broker, epoch, topic, subscription, limit_kind, msg_rate, byte_rate, period_s, relative,
  CASE WHEN msg_rate > 0 THEN msg_rate + coalesce(publish_msgs_per_s, 0) END AS msg_limit,
  CASE WHEN byte_rate > 0 THEN byte_rate + coalesce(publish_bytes_per_s, 0) END AS byte_limit,
  quota_limit, quota_policy,
  coalesce(set_by, CASE WHEN policy_disagreement IS NULL THEN 'not in this log' ELSE 'nowhere' END) AS set_by,
  coalesce(set_at, since) AS since, policy_disagreement, complete
FROM applied
