-- The histogram of check durations is one: buckets grow to all checks of their window, and since the broker's start they are windows' sums.
-- A violating row is a bucket after a window: it differs from the sum of the windows until then, or it holds more than the next bucket
-- (the last bucket: not as many as there were checks).
-- After a backfill a lane that runs goes on from its old state: later dates are left out until they are computed anew, too.
WITH repaired AS (
  SELECT broker, max(last_date) AS until FROM backfills
  WHERE table_name = 'quota_checks' AND NOT dry_run AND broker IN (SELECT broker FROM backfills WHERE swapped) GROUP BY broker
)
SELECT broker, epoch, window_start, clock_segment, bucket, in_window, next, sum_of_windows, since_start
FROM (
  SELECT broker, epoch, window_start, clock_segment, bucket, in_window, next, since_start,
    sum(in_window) OVER (PARTITION BY broker, epoch, bucket ORDER BY clock_segment, window_start) AS sum_of_windows,
    min(window_start) OVER (PARTITION BY broker, epoch) AS began_at
  FROM (
    SELECT broker, epoch, window_start, clock_segment, stack(6,
      'le_5', le_5, le_5_since_start, le_10,
      'le_10', le_10, le_10_since_start, le_30,
      'le_30', le_30, le_30_since_start, le_60,
      'le_60', le_60, le_60_since_start, le_300,
      'le_300', le_300, le_300_since_start, le_inf,
      'le_inf', le_inf, le_inf_since_start, checks
    ) AS (bucket, in_window, since_start, next)
    FROM quota_checks
  )
)
LEFT JOIN repaired USING (broker)
WHERE (sum_of_windows <> since_start AND NOT coalesce(CAST(window_start AS DATE) > until AND CAST(began_at AS DATE) <= until, false))
  OR in_window > next OR (bucket = 'le_inf' AND in_window <> next)
