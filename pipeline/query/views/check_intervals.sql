-- How often does each broker check its backlog quotas, and when did it last?
-- One row per broker and epoch.
--   interval_s       median step between two checks of a topic, in whole seconds as Pulsar configures it; null: no topic was checked twice
--   first_check_at, last_check_at, checks   of any topic
--   newest           whether it is the broker's newest epoch
WITH steps AS (
  SELECT broker, epoch, check_time, check_number,
    unix_micros(check_time) - lag(unix_micros(check_time)) OVER (PARTITION BY broker, epoch, topic ORDER BY check_number) AS step_us
  FROM topic_backlog
),
epochs AS (
  SELECT broker, epoch,
    percentile_approx(CASE WHEN step_us > 0 THEN step_us END, 0.5) AS median_us,
    min_by(check_time, check_number) AS first_check_at,
    max_by(check_time, check_number) AS last_check_at,
    count(*) AS checks
  FROM steps
  GROUP BY broker, epoch
)
SELECT
  broker, epoch,
  CASE WHEN median_us IS NOT NULL THEN greatest(1, (median_us + 500000) div 1000000) END AS interval_s,
  first_check_at, last_check_at, checks,
  epoch = max(epoch) OVER (PARTITION BY broker) AS newest
FROM epochs
