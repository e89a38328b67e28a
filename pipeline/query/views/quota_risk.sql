-- Which backlog quota trips next, when, and who loses messages?
-- One row per topic and quota type with a limit at the topic's latest check: the forecast, exceeded ones first, then by time to breach.
-- Columns as in quota_forecasts and quota_breaches; left out are topics that their broker no longer checks, and epochs before its newest.
--   as_of   the check; breach_in_s counts from it (0: exceeded now; null: no breach in sight, or not known: quota_breaches)
WITH counted AS (
  SELECT t.*
  FROM topic_backlog t
  JOIN recent_checks r ON r.broker = t.broker AND r.epoch = t.epoch AND r.topic = t.topic AND r.check_number = t.check_number
),
newest AS (SELECT * FROM recent_checks WHERE is_newest),
last_checks AS (
  SELECT t.*
  FROM topic_backlog t
  JOIN newest n ON n.broker = t.broker AND n.epoch = t.epoch AND n.topic = t.topic AND n.check_number = t.check_number
),
latest AS (
  SELECT f.*, i.last_check_at
  FROM VIEW_OVER(quota_breaches, topic_backlog, counted) f
  JOIN newest n ON n.broker = f.broker AND n.epoch = f.epoch AND n.topic = f.topic AND n.check_number = f.check_number
  JOIN check_intervals i ON i.broker = f.broker AND i.epoch = f.epoch
),
losing AS (
  SELECT broker, epoch, topic, quota_type,
    max_by(subscription, struct(named, backlog_size, subscription)) AS loses_first,
    array_sort(collect_list(subscription)) AS subscriptions
  FROM VIEW_OVER(quota_losers, topic_backlog, last_checks)
  GROUP BY broker, epoch, topic, quota_type
)
SELECT
  n.broker, n.epoch, n.topic, n.quota_type, exceeded, breach_in_s, breach_at, breach_from, breach_to, deadline_at,
  share_of_limit, used, quota_limit, policy, on_breach,
  l.loses_first, coalesce(array_sort(array_except(l.subscriptions, array(l.loses_first))), array()) AS others_losing, producers,
  rate_mean, rate_least, rate_most, steps, shut_out, interval_s, check_time AS as_of, complete
FROM latest n
LEFT JOIN losing l ON l.broker = n.broker AND l.epoch = n.epoch AND l.topic = n.topic AND l.quota_type = n.quota_type
WHERE interval_s IS NULL OR unix_micros(last_check_at) - unix_micros(check_time) < 2 * interval_s * 1000000
ORDER BY breach_in_s ASC NULLS LAST, share_of_limit DESC NULLS LAST, n.topic, n.quota_type
