-- Which subscriptions are held back right now, by which limiter, since when, and is anybody waiting?
-- One row per open dispatcher, worst first, as of the end of its broker's newest window; where the log ends within it, of the log.
--   state           held back: a limiter lowered its reads, or left it blocked, while more was waiting than was granted
--                   nominal:   its reads were lowered, but nobody needed the rest
--                   free:      it read or dispatched, and no limiter lowered anything
--                   idle:      nothing happened to it in the broker's newest window
--   held_by         level of the limiter that blocked it longest, else of the one that was decisive most often; dimension likewise
--   limit_rate, limit_period_s, limiter_debt   of that limiter: permits per period, and how far it was below zero
--   blocked_s       of the newest window; blocked_share: of its length, as far as the log goes
--   since           start of the first window of the unbroken run (without a step of the broker's clock) in which it was throttled;
--                   throttled_s: from then to as_of; run_blocked_s: blocked time in that run
--   waiting_entries, waiting_bytes   beyond its read position at the end of its latest window
WITH ranked AS (
  -- Newest first. clock_segment leads: after the host's clock was set back, later windows have earlier times.
  SELECT *,
    reads_shrunk + reads_blocked > 0 OR blocked_ns > 0 AS throttled,
    row_number() OVER (PARTITION BY broker, epoch, topic, subscription, opened_at ORDER BY clock_segment DESC, window_start DESC) AS age,
    first_value(closed_at) OVER (
      PARTITION BY broker, epoch, topic, subscription, opened_at ORDER BY clock_segment DESC, window_start DESC
    ) AS ended_at,
    lag(struct(clock_segment, window_start)) OVER (
      PARTITION BY broker, epoch, topic, subscription, opened_at ORDER BY clock_segment DESC, window_start DESC
    ) AS newer
  FROM subscription_throttle
),
counted AS (
  -- 0 from the newest window back to the first that was not throttled, or that does not touch the one after it.
  SELECT *,
    sum(CASE WHEN throttled AND (age = 1 OR newer.clock_segment = clock_segment AND newer.window_start = window_end) THEN 0 ELSE 1 END)
      OVER (PARTITION BY broker, epoch, topic, subscription, opened_at ORDER BY age) AS breaks
  FROM ranked
  WHERE ended_at IS NULL
),
unbroken AS (
  SELECT *,
    min(CASE WHEN breaks = 0 THEN window_start END) OVER (PARTITION BY broker, epoch, topic, subscription, opened_at) AS since,
    sum(CASE WHEN breaks = 0 THEN blocked_ns END) OVER (PARTITION BY broker, epoch, topic, subscription, opened_at) AS run_blocked_ns
  FROM counted
),
newest AS (
  SELECT broker, epoch, max(struct(clock_segment, window_start, log_until)) AS at
  FROM broker_windows
  WHERE log_until > window_start
  GROUP BY broker, epoch
),
latest AS (
  SELECT r.*, n.at.log_until AS as_of,
    r.clock_segment = n.at.clock_segment AND r.window_start = n.at.window_start AS fresh,
    -- Longest blocked first, then most often decisive; array_max of structs compares field by field.
    array_max(array(
      named_struct('ns', blocked_ns_by_broker_limit, 'times', decisive_msg_by_broker_limit + decisive_bytes_by_broker_limit,
        'level', 'broker', 'bytes', decisive_bytes_by_broker_limit > decisive_msg_by_broker_limit),
      named_struct('ns', blocked_ns_by_topic_limit, 'times', decisive_msg_by_topic_limit + decisive_bytes_by_topic_limit,
        'level', 'topic', 'bytes', decisive_bytes_by_topic_limit > decisive_msg_by_topic_limit),
      named_struct('ns', blocked_ns_by_subscription_limit, 'times', decisive_msg_by_subscription_limit + decisive_bytes_by_subscription_limit,
        'level', 'subscription', 'bytes', decisive_bytes_by_subscription_limit > decisive_msg_by_subscription_limit)
    )) AS holder
  FROM unbroken r JOIN newest n ON n.broker = r.broker AND n.epoch = r.epoch
  WHERE r.age = 1
),
judged AS (
  SELECT *,
    CASE
      WHEN NOT fresh THEN 'idle'
      WHEN reads_binding > 0 OR (blocked_ns > 0 AND waiting_entries > 0) THEN 'held back'
      WHEN throttled THEN 'nominal'
      ELSE 'free'
    END AS state,
    CASE WHEN fresh AND throttled THEN holder.level END AS held_by,
    -- A stretch that began in an earlier window has no read, so no dimension, in this one.
    CASE WHEN fresh AND throttled AND holder.times > 0 THEN CASE WHEN holder.bytes THEN 'bytes' ELSE 'msg' END END AS dimension
  FROM latest
),
limits AS (
  SELECT broker, epoch, level, topic, subscription, dimension, window_start, clock_segment,
    max_by(struct(rate, period_ms, debt), created_at) AS last
  FROM limiter_windows
  GROUP BY broker, epoch, level, topic, subscription, dimension, window_start, clock_segment
)
SELECT
  j.broker, j.epoch, j.topic, j.subscription, j.state, j.held_by, j.dimension,
  l.last.rate AS limit_rate, l.last.period_ms / 1e3 AS limit_period_s, l.last.debt AS limiter_debt,
  CASE WHEN j.fresh THEN j.blocked_ns ELSE 0 END / 1e9 AS blocked_s,
  CASE WHEN j.fresh THEN j.blocked_ns ELSE 0 END / 1e3
    / nullif(unix_micros(least(j.window_end, j.as_of)) - unix_micros(j.window_start), 0) AS blocked_share,
  CASE WHEN j.fresh THEN j.since END AS since,
  CASE WHEN j.fresh THEN (unix_micros(j.as_of) - unix_micros(j.since)) / 1e6 END AS throttled_s,
  CASE WHEN j.fresh THEN j.run_blocked_ns / 1e9 END AS run_blocked_s,
  j.waiting_entries, j.waiting_bytes,
  j.reads, j.reads_shrunk, j.reads_blocked, j.reads_binding, j.reads_nominal, j.dispatched_msgs, j.dispatched_bytes,
  j.sub_type, j.opened_at, j.window_start AS last_window_start, j.window_end AS last_window_end, j.as_of,
  j.source, j.complete, j.completeness
FROM judged j
LEFT JOIN limits l
  ON l.broker = j.broker AND l.epoch = j.epoch AND l.level = j.held_by AND l.dimension = j.dimension
  AND l.window_start = j.window_start AND l.clock_segment = j.clock_segment
  AND (j.held_by = 'broker' OR l.topic = j.topic)
  AND (j.held_by <> 'subscription' OR l.subscription = j.subscription)
ORDER BY array_position(array('held back', 'nominal', 'free', 'idle'), j.state), j.blocked_ns DESC, j.waiting_entries DESC
