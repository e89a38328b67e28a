-- When will each backlog quota be exceeded, at which check?
-- One row per topic, check and quota type with a limit. Only data of that check and before is used.
--   used             bytes, or ms since the time that the broker counts its oldest entry from (0: it shows none; null: not in the log)
--   exceeded         now, by the broker's comparison: size ≥ limit, age > limit. Then breach_* are the check itself
--   rate_mean        growth per second over the steps between checks of the last 5 minutes (bytes, or ms of age), from the last step on
--                    at which it turned or doubled;
--                    rate_least, rate_most: the band that has the rate until the breach in eight cases of ten (docs/design/backlog.md),
--                    the same as rate_mean until there are two steps.
--                    No size grows without a producer: rates are at most 0 while none is connected and the last step brought nothing.
--                    Evicted bytes are not growth: a size step starts from the size after the eviction, an age step after it is left out.
--                    A size step in which a quota shut producers out is left out: it grows when they are back
--                    Age grows by 1000 at most; without a step, and at most, nothing is acknowledged any more
--   steps            steps between checks that the rates are of
--   shut_out         whether such a step is left out
--   deadline_at      age only: the oldest entry's time plus the limit; it stands unless acknowledgements pass that entry
--   breach_at        first check at which the limit is exceeded at the mean rate; breach_from, breach_to: at rate_most and rate_least;
--                    null: never at that rate, or not within 30 days. Rounded up to checks by the broker's interval
--   breach_in_s      from the check to breach_at
--   on_breach        effect of the policy; producers: connected now, cut off if it is disconnect_producers
WITH checked AS (
  SELECT t.*,
    e.backlog_size_planned, e.quota_type IS NOT NULL AS evicts,
    unix_micros(t.check_time) AS check_us,
    SHUTS_OUT(t) AS shuts,
    CASE WHEN t.oldest_backlog_message_age_seconds = -1 THEN 0
      ELSE unix_millis(t.check_time) - unix_millis(t.oldest_believed_time) END AS age_ms,
    coalesce(try_multiply(t.backlog_quota_limit_time, 1000), 9223372036854775807) AS limit_ms
  FROM topic_backlog t
  LEFT JOIN quota_evictions e
    ON e.broker = t.broker AND e.epoch = t.epoch AND e.topic = t.topic AND e.check_number = t.check_number AND e.action = 'evict'
),
readings AS (
  SELECT broker, epoch, topic, check_time, check_number, check_us, oldest_believed_time, producers, complete, shuts,
    inline(array(
      named_struct('quota_type', 'size', 'policy', policy_size,
        'quota_limit', backlog_quota_limit_size, 'has_limit', backlog_quota_limit_size >= 0,
        'used', backlog_size, 'used_limit', backlog_quota_limit_size, 'exceeded', backlog_size >= backlog_quota_limit_size,
        'grows_from', coalesce(backlog_size_planned, backlog_size)),
      named_struct('quota_type', 'time', 'policy', policy_time,
        'quota_limit', backlog_quota_limit_time, 'has_limit', backlog_quota_limit_time > 0,
        'used', age_ms, 'used_limit', limit_ms, 'exceeded', oldest_believed_time IS NOT NULL AND age_ms > limit_ms,
        'grows_from', CASE WHEN oldest_believed_time IS NOT NULL AND NOT evicts THEN age_ms END)
    ))
  FROM checked
),
steps AS (
  SELECT *,
    check_us - lag(check_us) OVER checks AS step_us,
    quota_type = 'size' AND coalesce(lag(shuts) OVER checks, false) AS was_shut,
    CASE WHEN quota_type = 'size' OR oldest_believed_time IS NOT NULL THEN used - lag(grows_from) OVER checks END AS growth
  FROM readings
  WINDOW checks AS (PARTITION BY broker, epoch, topic, quota_type ORDER BY check_number)
),
-- Where a rate turns, or doubles, and by more than chance, the steps before tell nothing of what comes: producers stopped, a consumer came back.
turns AS (
  SELECT *, CASE WHEN RATE_TURNED(step_rate) THEN 1 ELSE 0 END AS turned
  FROM (
    SELECT *, avg(step_rate) OVER before AS mean_before, stddev_samp(step_rate) OVER before AS deviation_before
    FROM (SELECT *, CASE WHEN step_us > 0 AND NOT was_shut THEN growth * 1e6 / step_us END AS step_rate FROM steps)
    WINDOW before AS (
      PARTITION BY broker, epoch, topic, quota_type ORDER BY check_us RANGE BETWEEN 300000000 PRECEDING AND 1 PRECEDING
    )
  )
),
rates AS (
  SELECT *,
    coalesce(quota_type = 'size' AND producers = 0 AND growth <= 0, false) AS nobody_adds,
    coalesce(bool_or(was_shut) OVER recent, false) AS shut_out,
    count(step_rate) OVER recent AS steps,
    var_samp(step_rate) OVER recent AS variance,
    sum(CASE WHEN step_rate IS NOT NULL THEN step_us END) OVER recent / 1e6 AS stepped_s,
    sum(CAST(CASE WHEN step_rate IS NOT NULL THEN growth END AS DOUBLE)) OVER recent * 1e6
      / sum(CASE WHEN step_rate IS NOT NULL THEN step_us END) OVER recent AS mean
  FROM (SELECT *, sum(turned) OVER (PARTITION BY broker, epoch, topic, quota_type ORDER BY check_number) AS course FROM turns)
  WINDOW recent AS (
    PARTITION BY broker, epoch, topic, quota_type, course ORDER BY check_us RANGE BETWEEN 300000000 PRECEDING AND CURRENT ROW
  )
),
paced AS (
  SELECT r.*, i.interval_s,
    CASE WHEN quota_type <> 'size' THEN least(1000, coalesce(mean, 1000)) WHEN nobody_adds THEN least(mean, 0) ELSE mean END AS rate_mean,
    -- Nothing is foreseen for an age while there is nothing old, nor where the log does not show the age.
    CASE WHEN NOT exceeded AND (quota_type = 'size' OR oldest_believed_time IS NOT NULL)
      -- The age must pass its limit by a millisecond, the size only reach it, from what an eviction leaves.
      THEN CASE WHEN quota_type = 'size' THEN CAST(used_limit AS DOUBLE) - grows_from ELSE CAST(used_limit AS DOUBLE) - used + 1 END
    END AS remaining
  FROM rates r
  LEFT JOIN check_intervals i ON i.broker = r.broker AND i.epoch = r.epoch
  WHERE has_limit
),
banded AS (
  SELECT *, CASE WHEN nobody_adds THEN 0D ELSE RATE_SPREAD(remaining, 0.2) END AS spread FROM paced
),
bounded AS (
  SELECT *,
    CASE WHEN quota_type = 'size' THEN rate_mean - spread ELSE least(1000, rate_mean - spread) END AS rate_least,
    CASE WHEN quota_type = 'size' THEN rate_mean + spread ELSE least(1000, rate_mean + spread) END AS rate_most
  FROM banded
),
foreseen AS (
  SELECT *,
    -- Offsets in µs, then up to a whole number of intervals, at least one; a month is as far as a rate of minutes is stretched.
    transform(array(rate_mean, rate_most, rate_least), rate -> CASE
      WHEN exceeded THEN check_us
      WHEN rate > 0 AND remaining / rate < 2592000D
        THEN check_us + CASE WHEN interval_s IS NULL THEN CAST(ceil(remaining / rate * 1e6) AS BIGINT)
          ELSE greatest(1, CAST(ceil(remaining / rate / interval_s) AS BIGINT)) * interval_s * 1000000 END
    END) AS breach_us
  FROM bounded
)
SELECT
  broker, epoch, topic, check_time, check_number, quota_type, policy, quota_limit, used, exceeded,
  try_divide(CAST(used AS DOUBLE), used_limit) AS share_of_limit,
  rate_mean, rate_least, rate_most, CAST(steps AS BIGINT) AS steps, interval_s,
  CASE WHEN quota_type = 'time' AND NOT exceeded AND remaining < 2592000000D
    THEN timestamp_micros(unix_micros(oldest_believed_time) + used_limit * 1000) END AS deadline_at,
  timestamp_micros(breach_us[0]) AS breach_at,
  timestamp_micros(breach_us[1]) AS breach_from,
  timestamp_micros(breach_us[2]) AS breach_to,
  (breach_us[0] - check_us) / 1e6 AS breach_in_s,
  CASE WHEN policy = 'consumer_backlog_eviction' THEN 'evict' ELSE 'disconnect_producers' END AS on_breach,
  producers,
  shut_out,
  complete
FROM foreseen
