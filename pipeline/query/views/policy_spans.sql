-- Who set which limit, from when to when, and whom did that hold for?
-- One row per row of policies, with the time until which it held.
--   since, until   the rows of one limit hold together, from the event that showed them to the next one that changed something.
--                  until is null for rows that hold now. A limit that ended with its topic or dispatcher ends here, too
--   set_at         when the place got these values; it may be long before since, when the topic was loaded later
--   in_force       these values rule the topic or subscription; else shadowed_by is the place whose values do
WITH held AS (
  SELECT *, first_value(seen_at) OVER (
      PARTITION BY broker, epoch, topic, subscription, limit_kind ORDER BY seen_seq RANGE BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
    ) AS until
  FROM policies
)
SELECT broker, epoch, topic, subscription, limit_kind, set_by, set_at, seen_at AS since, until, in_force, shadowed_by, msg_rate, byte_rate,
  period_s, relative, quota_limit, quota_policy, applied_set_by, applied_msg_rate, applied_byte_rate, applied_period_s, applied_relative,
  applied_limit, applied_policy, publish_msgs_per_s, publish_bytes_per_s, policy_disagreement, complete, incomplete_reason
FROM held
-- The end of a limit is no span of its own.
WHERE in_force OR set_by IS NOT NULL
