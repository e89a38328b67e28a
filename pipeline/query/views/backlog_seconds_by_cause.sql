-- How much backlog has every topic, namespace and broker, and to which causes is it charged?
-- One row per window, cause, and topic, namespace or broker.
--   scope             topic, namespace or broker; name: of it (a namespace as tenant/namespace; null for topics without a proper name)
--   cause, level, dimension, unknown_reason   docs/design/causes.md
--   backlog_s         seconds × subscriptions with a backlog
--   entry_s           entries in the backlogs × seconds
--   share             of all entry_s of that topic, namespace or broker in the window
--   subscriptions     with this cause
WITH named AS (
  SELECT c.broker, c.epoch, c.window_start, c.window_end, c.clock_segment, c.cause, c.level, c.dimension, c.unknown_reason, c.ns, c.entry_us,
    c.topic, c.completeness, t.namespace
  FROM subscription_causes c LEFT JOIN topics t ON t.topic = c.topic
),
scoped AS (
  SELECT *, 'topic' AS scope, topic AS name FROM named
  UNION ALL SELECT *, 'namespace' AS scope, namespace AS name FROM named
  UNION ALL SELECT *, 'broker' AS scope, broker AS name FROM named
),
summed AS (
  SELECT broker, epoch, window_start, window_end, clock_segment, scope, name, cause, level, dimension, unknown_reason,
    sum(ns) / 1e9 AS backlog_s, sum(entry_us) / 1e6 AS entry_s, count(*) AS subscriptions, min(completeness) AS completeness
  FROM scoped
  GROUP BY broker, epoch, window_start, window_end, clock_segment, scope, name, cause, level, dimension, unknown_reason
)
SELECT broker, epoch, window_start, window_end, clock_segment, scope, name, cause, level, dimension, unknown_reason,
  backlog_s, entry_s,
  try_divide(entry_s, sum(entry_s) OVER (PARTITION BY broker, epoch, window_start, clock_segment, scope, name)) AS share,
  subscriptions, completeness
FROM summed
