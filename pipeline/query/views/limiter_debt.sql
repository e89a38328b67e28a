-- Which limiters owe tokens now, and until when do they block reads?
-- One row per limiter and dimension below zero at the end of its broker's newest window, the longest debt first.
--   level, topic, subscription   whose limiter
--   debt           permits below zero (messages or bytes): more went out than it allowed, as permits of a read are not reserved
--   rate, period_s permits per period
--   repaid_in_s    seconds from as_of until the balance is zero, if nothing more goes out; null without a period
--   repaid_at      when that is
--   over_delivered permits that went out beyond the balance in the window
SELECT u.broker, u.epoch, u.level, u.topic, u.subscription, u.dimension, n.as_of,
  u.debt, u.rate, u.period_s, u.debt_s AS repaid_in_s,
  -- A debt can be 2^63 − 1: later than a year from now is no date.
  CASE WHEN u.debt_s < 31536000 THEN timestamp_micros(unix_micros(n.as_of) + CAST(round(u.debt_s * 1e6) AS BIGINT)) END AS repaid_at,
  u.over_delivered, u.complete
FROM limiter_use u
JOIN newest_windows n
  ON n.broker = u.broker AND n.epoch = u.epoch AND n.clock_segment = u.clock_segment AND n.window_start = u.window_start
WHERE u.debt > 0 AND u.closed_at IS NULL
ORDER BY repaid_in_s DESC NULLS LAST, u.broker, u.level, u.topic, u.subscription, u.dimension
