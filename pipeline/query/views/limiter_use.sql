-- How much of its rate does each limiter give out, and can its figures be trusted?
-- One row per limiter, dimension and window, as limiter_windows.
--   active_s               seconds of the window in which the limiter existed, as far as the log goes into the window
--   allowed                rate × active_s / period (a token bucket may give its burst on top); null without a period
--   used, used_share       permits consumed, and their share of allowed: near 1 = full, above 1 = over-delivered or a fresh bucket
--   over_delivered_share   of used, the part beyond the balance at that moment
--   debt, debt_s           how far below zero it ended, and how long its rate needs to pay that back
--   asks_shrunk, _blocked  reads it lowered, to something or to nothing; asks_binding: of both, while more was waiting than granted
--   agreement              share of compared asks that the model answered as the broker did or within one clock step; null: none compared
WITH lived AS (
  SELECT l.*,
    greatest(0, unix_micros(least(l.window_end, coalesce(w.log_until, l.window_end), coalesce(l.closed_at, l.window_end)))
      - unix_micros(greatest(l.window_start, l.created_at))) / 1e6 AS active_s,
    -- A rate can be 2^63 − 1: every product in doubles.
    CASE WHEN l.period_ms > 0 THEN CAST(l.rate AS DOUBLE) * 1e3 / l.period_ms END AS per_second
  FROM limiter_windows l
  LEFT JOIN broker_windows w ON w.broker = l.broker AND w.epoch = l.epoch AND w.clock_segment = l.clock_segment
    AND w.window_start = l.window_start
)
SELECT
  broker, epoch, level, topic, subscription, dimension, created_at, window_start, window_end, clock_segment, closed_at,
  limiter, rate, period_ms / 1e3 AS period_s, relative, applied,
  active_s,
  per_second * active_s AS allowed,
  used,
  try_divide(used, per_second * active_s) AS used_share,
  over_delivered,
  try_divide(over_delivered, used) AS over_delivered_share,
  permits_start, permits_end,
  debt,
  debt / per_second AS debt_s,
  asks, asks_shrunk, asks_blocked, asks_binding,
  compared, exact, within_clock_step, different, largest_difference,
  try_divide(exact + within_clock_step, compared) AS agreement,
  source, complete, completeness
FROM lived
