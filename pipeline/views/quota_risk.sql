-- Which backlog quota trips next, when, and who loses messages?
-- One row per topic and quota type with a limit: its latest forecast, exceeded ones first, then by time to breach.
-- Columns as in quota_forecasts; left out are topics that their broker no longer checks, and epochs before its newest.
--   as_of   the check; breach_in_s counts from it (0: exceeded now; null: no breach in sight)
WITH latest AS (
  SELECT f.*, row_number() OVER (PARTITION BY f.broker, f.epoch, f.topic, f.quota_type ORDER BY f.check_number DESC) AS age,
    i.last_check_at
  FROM quota_forecasts f
  JOIN check_intervals i ON i.broker = f.broker AND i.epoch = f.epoch AND i.newest
)
SELECT
  broker, epoch, topic, quota_type, exceeded, breach_in_s, breach_at, breach_from, breach_to, deadline_at,
  share_of_limit, used, quota_limit, policy, on_breach, loses_first, others_losing, producers,
  rate_mean, rate_least, rate_most, steps, interval_s, check_time AS as_of, complete
FROM latest
WHERE age = 1 AND (interval_s IS NULL OR unix_micros(last_check_at) - unix_micros(check_time) < 2 * interval_s * 1000000)
ORDER BY breach_in_s ASC NULLS LAST, share_of_limit DESC NULLS LAST, topic, quota_type
