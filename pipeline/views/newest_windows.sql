-- Which is the newest finished window of each broker?
-- One row per broker, of its newest epoch. Views that show how things are now show them at the end of this window.
--   as_of    the end of that window
-- A broker that has started again since, and has no finished window in its new epoch, has no row.
WITH windows AS (
  SELECT broker, epoch, clock_segment, window_start, window_end FROM channel_backpressure
  UNION ALL SELECT broker, epoch, clock_segment, window_start, window_end FROM channel_memory
  UNION ALL SELECT broker, epoch, clock_segment, window_start, window_end FROM subscription_throttle
  UNION ALL SELECT broker, epoch, clock_segment, window_start, window_end FROM limiter_windows
  UNION ALL SELECT broker, epoch, clock_segment, window_start, window_end FROM subscription_causes
),
newest AS (
  -- clock_segment before window_start: after the host's clock was set back, later windows have earlier times.
  SELECT broker, max(struct(epoch, clock_segment, window_start, window_end)) AS at
  FROM windows
  GROUP BY broker
)
SELECT n.broker, n.at.epoch AS epoch, n.at.clock_segment AS clock_segment, n.at.window_start AS window_start, n.at.window_end AS as_of
FROM newest n
LEFT JOIN brokers b ON b.broker = n.broker
WHERE b.started_epoch IS NULL OR b.started_epoch <= n.at.epoch
