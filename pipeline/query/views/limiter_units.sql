-- Do the limiters of a broker count messages, or entries?
-- One row per broker and epoch.
--   counts_entries   true: a batch is charged as one (dispatchThrottlingOnBatchMessageEnabled), false: by its messages, Pulsar's default.
--                    By the limiters' own balances over whole windows, beside the deliveries in them; without these, as
--                    broker_start has the setting
WITH served AS (
  SELECT broker, epoch, topic, subscription, window_start, clock_segment,
    sum(dispatched_entries) AS entries, sum(dispatched_msgs - uncharged_msgs) AS msgs
  FROM subscription_throttle
  WHERE dispatched_msgs > dispatched_entries
  GROUP BY broker, epoch, topic, subscription, window_start, clock_segment
),
limiters AS (
  -- In its first and last window a limiter has only a part of what was delivered.
  SELECT broker, epoch, topic, subscription, window_start, clock_segment, used
  FROM limiter_windows
  WHERE dimension = 'msg' AND level = 'subscription' AND used > 0 AND created_at < window_start AND closed_at IS NULL
  UNION ALL
  SELECT l.broker, l.epoch, l.topic, s.subscription, l.window_start, l.clock_segment, l.used
  FROM limiter_windows l
  JOIN (
    SELECT broker, epoch, topic, window_start, clock_segment, max(subscription) AS subscription
    FROM subscription_throttle
    WHERE dispatched_msgs > 0
    GROUP BY broker, epoch, topic, window_start, clock_segment
    HAVING count(DISTINCT subscription) = 1
  ) s ON s.broker = l.broker AND s.epoch = l.epoch AND s.topic = l.topic AND s.window_start = l.window_start
    AND s.clock_segment = l.clock_segment
  WHERE l.dimension = 'msg' AND l.level = 'topic' AND l.used > 0 AND l.created_at < l.window_start AND l.closed_at IS NULL
),
charged AS (
  SELECT l.broker, l.epoch, sum(abs(l.used - s.entries)) < sum(abs(l.used - s.msgs)) AS counts_entries
  FROM limiters l
  JOIN served s ON s.broker = l.broker AND s.epoch = l.epoch AND s.topic = l.topic AND s.subscription = l.subscription
    AND s.window_start = l.window_start AND s.clock_segment = l.clock_segment
  GROUP BY l.broker, l.epoch
),
set_at_start AS (
  SELECT broker, epoch, max(lower(settings['dispatchThrottlingOnBatchMessageEnabled'])) = 'true' AS counts_entries
  FROM dispatch_events
  WHERE seq = 1 AND type = 'broker_start'
  GROUP BY broker, epoch
)
SELECT s.broker, s.epoch, coalesce(c.counts_entries, a.counts_entries, false) AS counts_entries
FROM (SELECT DISTINCT broker, epoch FROM limiter_windows) s
LEFT JOIN charged c ON c.broker = s.broker AND c.epoch = s.epoch
LEFT JOIN set_at_start a ON a.broker = s.broker AND a.epoch = s.epoch
