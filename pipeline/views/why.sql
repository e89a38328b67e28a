-- Why is each subscription behind, since when, and what comes next? Read this first.
-- One row per subscription, the largest backlog × time first, as of the end of its broker's newest window.
--   status        current: no backlog at the end of the window. keeping up: entries are delivered and acknowledged as they come, and for a
--                 part of the window there was no backlog. Else by the main cause: no consumer, held back (by a limiter), channel blocked,
--                 unacked limit, slow consumers, idle consumers, keys blocked,
--                 open transaction, redelivering, unacknowledged, delayed, slow storage, catching up, stuck, unknown
--   cause         the main cause (docs/causes.md): most entries × time of the window. level, dimension: of the limiter; null else
--   unknown_reason  of the cause unknown: events_lost, beginning_not_seen, not_in_this_log
--   share         of the window's entries × time that was charged to it, 0 to 1; time_share: of the time with a backlog
--   since, since_s  when it became the main one, and how long before as_of
--   next_cause, next_share   the cause with the second most
--   backlog, waiting   entries at the end of the window; waiting: neither delivered nor held for later delivery
--   backlog_s     seconds of the window with a backlog
WITH charged AS (
  SELECT c.*, n.as_of,
    sum(c.entry_us) OVER (PARTITION BY c.broker, c.epoch, c.topic, c.subscription) AS all_entry_us,
    row_number() OVER (PARTITION BY c.broker, c.epoch, c.topic, c.subscription ORDER BY c.is_main DESC, c.entry_us DESC, c.ns DESC, c.cause,
      c.level, c.dimension, c.unknown_reason) AS place
  FROM subscription_causes c
  JOIN newest_windows n
    ON n.broker = c.broker AND n.epoch = c.epoch AND n.clock_segment = c.clock_segment AND n.window_start = c.window_start
),
behind AS (
  SELECT m.*, s.cause AS next_cause, try_divide(s.entry_us, s.all_entry_us) AS next_share
  FROM charged m
  LEFT JOIN charged s
    ON s.broker = m.broker AND s.epoch = m.epoch AND s.topic = m.topic AND s.subscription = m.subscription AND s.place = 2
  WHERE m.place = 1
),
known AS (
  SELECT broker, epoch, topic, subscription FROM behind
  UNION
  SELECT b.broker, b.epoch, b.topic, b.subscription
  FROM backlog_now b JOIN newest_windows n ON n.broker = b.broker AND n.epoch = b.epoch
  WHERE b.subscription IS NOT NULL
)
SELECT
  k.broker, k.epoch, k.topic, k.subscription, n.as_of,
  CASE
    WHEN b.cause IS NULL OR b.backlog_end = 0 THEN 'current'
    WHEN b.cause IN ('in_flight', 'catching_up') AND b.backlog_ns < (unix_micros(b.window_end) - unix_micros(b.window_start)) * 1000
      THEN 'keeping up'
    WHEN b.cause = 'no_consumer' THEN 'no consumer'
    WHEN b.cause = 'throttled' THEN 'held back'
    WHEN b.cause = 'channel' THEN 'channel blocked'
    WHEN b.cause = 'unacked_limit' THEN 'unacked limit'
    WHEN b.cause = 'no_permits' THEN 'slow consumers'
    WHEN b.cause = 'no_flow' THEN 'idle consumers'
    WHEN b.cause = 'keys_blocked' THEN 'keys blocked'
    WHEN b.cause = 'transaction' THEN 'open transaction'
    WHEN b.cause = 'redelivery' THEN 'redelivering'
    WHEN b.cause = 'in_flight' THEN 'unacknowledged'
    WHEN b.cause = 'reading' THEN 'slow storage'
    WHEN b.cause = 'catching_up' THEN 'catching up'
    ELSE b.cause
  END AS status,
  b.cause, b.level, b.dimension, b.unknown_reason,
  try_divide(b.entry_us, b.all_entry_us) AS share,
  try_divide(b.ns, b.backlog_ns) AS time_share,
  b.main_since AS since,
  (unix_micros(n.as_of) - unix_micros(b.main_since)) / 1e6 AS since_s,
  b.next_cause, b.next_share,
  coalesce(b.backlog_end, 0) AS backlog,
  coalesce(b.waiting_end, 0) AS waiting,
  coalesce(b.backlog_ns, 0) / 1e9 AS backlog_s,
  coalesce(b.complete, true) AS complete,
  coalesce(b.completeness, 1.0D) AS completeness
FROM known k
JOIN newest_windows n ON n.broker = k.broker AND n.epoch = k.epoch
LEFT JOIN behind b ON b.broker = k.broker AND b.epoch = k.epoch AND b.topic = k.topic AND b.subscription = k.subscription
ORDER BY coalesce(b.all_entry_us, 0) DESC, k.topic, k.subscription
