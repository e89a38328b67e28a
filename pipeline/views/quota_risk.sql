-- Which backlog quota trips next, when, and who loses messages?
-- One row per topic and quota type with a limit: its latest forecast, exceeded ones first, then by time to breach.
-- Columns as in quota_forecasts and quota_breaches; left out are topics that their broker no longer checks, and epochs before its newest.
--   as_of   the check; breach_in_s counts from it (0: exceeded now; null: no breach in sight)
WITH latest AS (
  SELECT f.*, row_number() OVER (PARTITION BY f.broker, f.epoch, f.topic, f.quota_type ORDER BY f.check_number DESC) AS age,
    i.last_check_at
  FROM quota_breaches f
  JOIN check_intervals i ON i.broker = f.broker AND i.epoch = f.epoch AND i.newest
),
losing AS (
  -- Joined before it is summed up: only the latest checks are wanted.
  SELECT n.broker, n.epoch, n.topic, n.quota_type,
    max_by(l.subscription, struct(l.named, l.backlog_size, l.subscription)) AS loses_first,
    array_sort(collect_list(l.subscription)) AS subscriptions
  FROM latest n
  JOIN quota_losers l
    ON l.broker = n.broker AND l.epoch = n.epoch AND l.topic = n.topic AND l.check_number = n.check_number AND l.quota_type = n.quota_type
  WHERE n.age = 1
  GROUP BY n.broker, n.epoch, n.topic, n.quota_type
)
SELECT
  n.broker, n.epoch, n.topic, n.quota_type, exceeded, breach_in_s, breach_at, breach_from, breach_to, deadline_at,
  share_of_limit, used, quota_limit, policy, on_breach,
  l.loses_first, coalesce(array_sort(array_except(l.subscriptions, array(l.loses_first))), array()) AS others_losing, producers,
  rate_mean, rate_least, rate_most, steps, interval_s, check_time AS as_of, complete
FROM latest n
LEFT JOIN losing l ON l.broker = n.broker AND l.epoch = n.epoch AND l.topic = n.topic AND l.quota_type = n.quota_type
WHERE age = 1 AND (interval_s IS NULL OR unix_micros(last_check_at) - unix_micros(check_time) < 2 * interval_s * 1000000)
ORDER BY breach_in_s ASC NULLS LAST, share_of_limit DESC NULLS LAST, n.topic, n.quota_type
