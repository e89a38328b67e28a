-- Which limiter held each subscription back, how often and for how long, over time?
-- One row per subscription, window and level (broker, topic, subscription) that did anything to it.
--   msg_events, bytes_events     reads whose messages or bytes this level's limiter lowered (Pulsar's throttled events)
--   reads_blocked, blocked_s     reads it left with nothing, and the time until the next read (blocked_ns: the same in ns)
--   on_s                         seconds of the window in which the limiter was on, as far as the log goes into the window
--   blocked_share                blocked_s of on_s, 0 to 1: a read that it blocked may wait longer than the limiter is on
--   decisive_msg, decisive_bytes reads for which it was the last to lower that dimension: the limiter to raise first
--   subscription_reads, …_binding, …_nominal
--       of the subscription, by whichever level, the same on each of its rows of a window: do not add them up over levels.
--       binding: more was waiting than was granted. nominal: nobody needed the rest
WITH by_level AS (
  SELECT broker, epoch, topic, subscription, window_start, window_end, clock_segment, completeness, reads, reads_binding, reads_nominal,
    stack(3,
      'broker', dispatch_throttled_msg_events_by_broker_limit, dispatch_throttled_bytes_events_by_broker_limit,
        reads_blocked_by_broker_limit, blocked_ns_by_broker_limit, decisive_msg_by_broker_limit, decisive_bytes_by_broker_limit,
      'topic', dispatch_throttled_msg_events_by_topic_limit, dispatch_throttled_bytes_events_by_topic_limit,
        reads_blocked_by_topic_limit, blocked_ns_by_topic_limit, decisive_msg_by_topic_limit, decisive_bytes_by_topic_limit,
      'subscription', dispatch_throttled_msg_events_by_subscription_limit, dispatch_throttled_bytes_events_by_subscription_limit,
        reads_blocked_by_subscription_limit, blocked_ns_by_subscription_limit,
        decisive_msg_by_subscription_limit, decisive_bytes_by_subscription_limit
    ) AS (level, msg_events, bytes_events, blocked, blocked_ns, decisive_msg, decisive_bytes)
  FROM subscription_throttle
),
summed AS (
  SELECT broker, epoch, topic, subscription, window_start, window_end, clock_segment, level,
    sum(msg_events) AS msg_events, sum(bytes_events) AS bytes_events, sum(blocked) AS reads_blocked, sum(blocked_ns) AS blocked_ns,
    sum(decisive_msg) AS decisive_msg, sum(decisive_bytes) AS decisive_bytes, sum(reads) AS reads, sum(reads_binding) AS reads_binding,
    sum(reads_nominal) AS reads_nominal, min(completeness) AS completeness
  FROM by_level
  GROUP BY broker, epoch, topic, subscription, window_start, window_end, clock_segment, level
  HAVING sum(msg_events) > 0 OR sum(bytes_events) > 0 OR sum(blocked_ns) > 0
),
lived AS (
  -- One limiter has a row per dimension. One that was made anew in the window has them per incarnation.
  SELECT broker, epoch, level, topic, subscription, window_start, clock_segment, sum(active_s) AS on_s
  FROM (
    SELECT broker, epoch, level, topic, subscription, window_start, clock_segment, created_at, max(active_s) AS active_s
    FROM limiter_use
    GROUP BY broker, epoch, level, topic, subscription, window_start, clock_segment, created_at
  )
  GROUP BY broker, epoch, level, topic, subscription, window_start, clock_segment
),
timed AS (
  -- A limiter without a row in the window neither began nor ended there: it was on for as long as the log has the window.
  SELECT s.*, coalesce(l.on_s,
    (unix_micros(least(s.window_end, coalesce(w.log_until, s.window_end))) - unix_micros(s.window_start)) / 1e6) AS on_s
  FROM summed s
  LEFT JOIN lived l ON l.broker = s.broker AND l.epoch = s.epoch AND l.level = s.level
    AND l.topic <=> CASE WHEN s.level <> 'broker' THEN s.topic END
    AND l.subscription <=> CASE WHEN s.level = 'subscription' THEN s.subscription END
    AND l.window_start = s.window_start AND l.clock_segment = s.clock_segment
  LEFT JOIN broker_windows w ON w.broker = s.broker AND w.epoch = s.epoch AND w.clock_segment = s.clock_segment
    AND w.window_start = s.window_start
)
SELECT
  broker, epoch, topic, subscription, window_start, window_end, level,
  sum(msg_events) AS msg_events,
  sum(bytes_events) AS bytes_events,
  sum(reads_blocked) AS reads_blocked,
  sum(blocked_ns) / 1e9 AS blocked_s,
  sum(blocked_ns) AS blocked_ns,
  sum(on_s) AS on_s,
  least(1, try_divide(sum(blocked_ns) / 1e9, sum(on_s))) AS blocked_share,
  sum(decisive_msg) AS decisive_msg,
  sum(decisive_bytes) AS decisive_bytes,
  sum(reads) AS subscription_reads,
  sum(reads_binding) AS subscription_reads_binding,
  sum(reads_nominal) AS subscription_reads_nominal,
  min(completeness) AS completeness
FROM timed
GROUP BY broker, epoch, topic, subscription, window_start, window_end, level
