-- Which is the newest finished window of each broker, and up to when does the log have it?
-- One row per broker, of its newest epoch. Views that show how things are now show them as of this instant.
--   as_of    the end of the window; where the log ends within it, ts of the newest event. Nothing later is known
-- A broker that has started again since, and has no finished window in its new epoch, has no row.
WITH newest AS (
  -- clock_segment before window_start: after the host's clock was set back, later windows have earlier times.
  SELECT broker, max(struct(epoch, clock_segment, window_start, window_end, log_until)) AS at
  FROM broker_windows
  -- A log that ends with an event on the border of two windows has nothing of the second one but that event.
  WHERE log_until > window_start
  GROUP BY broker
)
SELECT n.broker, n.at.epoch AS epoch, n.at.clock_segment AS clock_segment, n.at.window_start AS window_start, n.at.window_end AS window_end,
  n.at.log_until AS as_of
FROM newest n
LEFT JOIN brokers b ON b.broker = n.broker
WHERE b.started_epoch IS NULL OR b.started_epoch <= n.at.epoch
