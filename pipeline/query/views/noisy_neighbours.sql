-- Who used a shared limiter while others needed it?
-- One row per subscription that drew on, or was held back by, a limiter of the broker or a topic, and window in which that limiter
-- was binding (it lowered a read while more was waiting than was granted).
--   level, limiter_topic       the shared limiter; limiter_topic is null for the broker's. dimension: msg or bytes
--   used                       messages or bytes that the limiter was charged for this subscription: only while the limiter was on. An
--                              earlier version did not write that: of its rows it is all that was dispatched in the window
--   used_share, rank           of the charges of all subscriptions under the limiter; rank 1 used most
--   own_reads_blocked, own_blocked_s   effect of the same level on this subscription: large for the victims
--   limiter_used, limiter_asks_binding the limiter's own books, for comparison
WITH shared AS (
  -- A limiter that was made anew in the window (topic reloaded) has a row per incarnation.
  SELECT broker, epoch, level, topic AS limiter_topic, dimension, window_start, window_end, clock_segment,
    max(rate) AS rate, max(period_ms) / 1e3 AS period_s, sum(used) AS limiter_used, sum(asks_binding) AS limiter_asks_binding
  FROM limiter_windows
  WHERE level IN ('broker', 'topic')
  GROUP BY broker, epoch, level, topic, dimension, window_start, window_end, clock_segment
  HAVING sum(asks_binding) > 0
),
users AS (
  SELECT broker, epoch, topic, subscription, window_start, clock_segment,
    sum(coalesce(charged_msg_by_broker_limit, dispatched_msgs - uncharged_msgs)) AS broker_msgs,
    sum(coalesce(charged_msg_by_topic_limit, dispatched_msgs - uncharged_msgs)) AS topic_msgs,
    sum(coalesce(charged_bytes_by_broker_limit, dispatched_bytes)) AS broker_bytes,
    sum(coalesce(charged_bytes_by_topic_limit, dispatched_bytes)) AS topic_bytes,
    sum(reads_blocked_by_broker_limit) AS reads_blocked_by_broker,
    sum(reads_blocked_by_topic_limit) AS reads_blocked_by_topic,
    sum(blocked_ns_by_broker_limit) AS blocked_ns_by_broker,
    sum(blocked_ns_by_topic_limit) AS blocked_ns_by_topic
  FROM subscription_throttle
  GROUP BY broker, epoch, topic, subscription, window_start, clock_segment
),
drawn AS (
  SELECT l.*, u.topic, u.subscription,
    CASE WHEN l.level = 'broker' THEN CASE l.dimension WHEN 'msg' THEN u.broker_msgs ELSE u.broker_bytes END
      ELSE CASE l.dimension WHEN 'msg' THEN u.topic_msgs ELSE u.topic_bytes END END AS used,
    CASE l.level WHEN 'broker' THEN u.reads_blocked_by_broker ELSE u.reads_blocked_by_topic END AS own_reads_blocked,
    CASE l.level WHEN 'broker' THEN u.blocked_ns_by_broker ELSE u.blocked_ns_by_topic END AS own_blocked_ns
  FROM shared l JOIN users u
    ON u.broker = l.broker AND u.epoch = l.epoch AND u.window_start = l.window_start AND u.clock_segment = l.clock_segment
    AND (l.level = 'broker' OR u.topic = l.limiter_topic)
)
SELECT
  broker, epoch, level, limiter_topic, dimension, window_start, window_end, clock_segment, rate, period_s,
  topic, subscription,
  used,
  try_divide(used, sum(used) OVER (PARTITION BY broker, epoch, level, limiter_topic, dimension, window_start, clock_segment)) AS used_share,
  rank() OVER (
    PARTITION BY broker, epoch, level, limiter_topic, dimension, window_start, clock_segment ORDER BY used DESC
  ) AS rank,
  own_reads_blocked,
  own_blocked_ns / 1e9 AS own_blocked_s,
  own_blocked_ns,
  limiter_used, limiter_asks_binding
FROM drawn
WHERE used > 0 OR own_blocked_ns > 0
