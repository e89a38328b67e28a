-- Did the forecasts of quota breaches come true?
-- One row per forecast of a limit that was not exceeded yet, beside the later course under that limit in the same epoch.
--   score          hit:   exceeded at the foreseen check, give or take half an interval, or a tenth of the time looked ahead
--                  late:  exceeded before the foreseen check, or at the very next check though it foresaw nothing
--                  early: exceeded later than foreseen, but no later than as long again
--                  false: not exceeded by then
--                  open:  not known yet, or never (the log ended, the limit was changed, the topic went)
--                  none:  it foresaw nothing, and at the next check nothing was exceeded
--   in_band        exceeded between breach_from and breach_to, give or take half an interval; null: not so far, or nothing was foreseen
--   exceeded_at    first later check that found it exceeded; error_s: that less breach_at
WITH unbroken AS (
  SELECT *,
    sum(changed) OVER (PARTITION BY broker, epoch, topic, quota_type ORDER BY check_number ROWS UNBOUNDED PRECEDING) AS run
  FROM (
    SELECT *, CASE WHEN quota_limit <> lag(quota_limit) OVER (PARTITION BY broker, epoch, topic, quota_type ORDER BY check_number)
      THEN 1 ELSE 0 END AS changed
    FROM quota_breaches
  )
),
outcomes AS (
  -- Newest first: what comes after a forecast is what the window has seen already.
  SELECT *,
    min(CASE WHEN exceeded THEN unix_micros(check_time) END) OVER (
      PARTITION BY broker, epoch, topic, quota_type, run ORDER BY check_number DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS exceeded_us,
    lag(exceeded) OVER later AS exceeded_next,
    first_value(unix_micros(check_time)) OVER later AS last_us,
    unix_micros(check_time) AS check_us, unix_micros(breach_at) AS breach_us,
    greatest(coalesce(interval_s, 0) * 500000, (unix_micros(breach_at) - unix_micros(check_time)) div 10) AS slack_us
  FROM unbroken
  WINDOW later AS (PARTITION BY broker, epoch, topic, quota_type, run ORDER BY check_number DESC)
)
SELECT
  broker, epoch, topic, check_time, check_number, quota_type, policy, quota_limit, used, share_of_limit,
  rate_mean, steps, interval_s, breach_at, breach_from, breach_to, breach_in_s,
  timestamp_micros(exceeded_us) AS exceeded_at,
  (exceeded_us - breach_us) / 1e6 AS error_s,
  CASE
    WHEN breach_us IS NULL THEN CASE WHEN exceeded_next THEN 'late' WHEN exceeded_next IS NULL THEN 'open' ELSE 'none' END
    WHEN abs(exceeded_us - breach_us) <= slack_us THEN 'hit'
    WHEN exceeded_us < breach_us THEN 'late'
    WHEN exceeded_us <= 2 * breach_us - check_us + slack_us THEN 'early'
    WHEN coalesce(exceeded_us, last_us) > 2 * breach_us - check_us + slack_us THEN 'false'
    ELSE 'open'
  END AS score,
  CASE WHEN exceeded_us IS NOT NULL AND breach_us IS NOT NULL THEN
    coalesce(exceeded_us >= unix_micros(breach_from) - coalesce(interval_s, 0) * 500000, false)
    AND coalesce(exceeded_us <= unix_micros(breach_to) + coalesce(interval_s, 0) * 500000, true)
  END AS in_band,
  complete
FROM outcomes
WHERE NOT exceeded
