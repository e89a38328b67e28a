-- Did the forecasts of catching up come true?
-- One row per forecast of a subscription that was not current yet, beside the later course of the same cursor.
--   score          hit:   current at the foreseen check, give or take half an interval, or a tenth of the time looked ahead
--                  late:  current before the foreseen check, or at the very next check though it foresaw nothing
--                  early: current later than foreseen, but no later than as long again
--                  false: not current by then
--                  open:  not known yet, or never (the log ended, the cursor was closed)
--                  none:  it foresaw nothing, and at the next check it was not current
--   in_band        current between current_from and current_to, give or take half an interval; null: not so far, or nothing was foreseen
--   became_at      first later check that found it current; error_s: that less current_at
WITH outcomes AS (
  -- Newest first: what comes after a forecast is what the window has seen already.
  SELECT *,
    min(CASE WHEN is_current THEN unix_micros(check_time) END) OVER (
      PARTITION BY broker, epoch, topic, subscription, opened_at ORDER BY check_number DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS became_us,
    lag(is_current) OVER later AS is_current_next,
    first_value(unix_micros(check_time)) OVER later AS last_us,
    unix_micros(check_time) AS check_us, unix_micros(current_at) AS current_us,
    greatest(coalesce(interval_s, 0) * 500000, (unix_micros(current_at) - unix_micros(check_time)) div 10) AS slack_us
  FROM catch_up_forecasts
  WINDOW later AS (PARTITION BY broker, epoch, topic, subscription, opened_at ORDER BY check_number DESC)
)
SELECT
  broker, epoch, topic, subscription, opened_at, check_time, check_number, waiting, rate_mean, steps, interval_s,
  current_at, current_from, current_to, current_in_s,
  timestamp_micros(became_us) AS became_at,
  (became_us - current_us) / 1e6 AS error_s,
  CASE
    WHEN current_us IS NULL THEN CASE WHEN is_current_next THEN 'late' WHEN is_current_next IS NULL THEN 'open' ELSE 'none' END
    WHEN abs(became_us - current_us) <= slack_us THEN 'hit'
    WHEN became_us < current_us THEN 'late'
    WHEN became_us <= 2 * current_us - check_us + slack_us THEN 'early'
    WHEN coalesce(became_us, last_us) > 2 * current_us - check_us + slack_us THEN 'false'
    ELSE 'open'
  END AS score,
  CASE WHEN became_us IS NOT NULL AND current_us IS NOT NULL THEN
    coalesce(became_us >= unix_micros(current_from) - coalesce(interval_s, 0) * 500000, false)
    AND coalesce(became_us <= unix_micros(current_to) + coalesce(interval_s, 0) * 500000, true)
  END AS in_band,
  complete
FROM outcomes
WHERE NOT is_current
