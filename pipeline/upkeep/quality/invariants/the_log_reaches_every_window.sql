-- Every window of a broker that a table has rows of is in broker_windows, and its log_until and last_event_at lie within it.
-- A violating row is a window. `log_until` is null where broker_windows lacks it. An event whose ts is a little behind counts in the window
-- that is open when it comes, so that only the greatest ts has to lie within.
WITH seen AS (
  SELECT broker, epoch, clock_segment, window_start, window_end FROM subscription_causes
  UNION SELECT broker, epoch, clock_segment, window_start, window_end FROM subscription_throttle
  UNION SELECT broker, epoch, clock_segment, window_start, window_end FROM limiter_windows
  UNION SELECT broker, epoch, clock_segment, window_start, window_end FROM channel_backpressure
  UNION SELECT broker, epoch, clock_segment, window_start, window_end FROM channel_memory
  UNION SELECT broker, epoch, clock_segment, window_start, window_end FROM broker_windows
)
SELECT s.broker, s.epoch, s.clock_segment, s.window_start, s.window_end, w.log_until, w.last_event_at
FROM seen s
LEFT JOIN broker_windows w
  ON w.broker = s.broker AND w.epoch = s.epoch AND w.clock_segment = s.clock_segment AND w.window_start = s.window_start
WHERE w.log_until IS NULL
  OR w.log_until < s.window_start OR w.log_until > s.window_end
  OR w.last_event_at < s.window_start OR w.last_event_at > w.log_until
