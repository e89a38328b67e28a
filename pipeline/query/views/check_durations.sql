-- How long do quota checks take, and do they keep up with their interval?
-- One row per broker and window in which checks were done. Durations count from the start of a round, as Pulsar counts them.
--   checks_per_round    topics, system topics included
--   mean_ms … max_ms    exact; over_5_s: checks that took more than 5 whole seconds
--   interval_share      longest duration over the interval: from 1 on, rounds overlap or are late
SELECT
  c.broker, c.epoch, c.window_start, c.window_end, c.clock_segment, c.rounds, c.checks,
  c.checks / nullif(c.rounds, 0) AS checks_per_round,
  c.duration_sum_us / 1e3 / nullif(c.checks, 0) AS mean_ms,
  c.duration_p50_us / 1e3 AS p50_ms,
  c.duration_p99_us / 1e3 AS p99_ms,
  c.duration_max_us / 1e3 AS max_ms,
  c.checks - c.le_5 AS over_5_s,
  i.interval_s,
  c.duration_max_us / 1e6 / i.interval_s AS interval_share,
  c.completeness
FROM quota_checks c
LEFT JOIN check_intervals i ON i.broker = c.broker AND i.epoch = c.epoch
