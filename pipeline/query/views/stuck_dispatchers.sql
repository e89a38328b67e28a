-- Which dispatchers stood still though nothing held them back, for how long, and do they still?
-- One row per subscription of a broker's epoch that had the cause stuck: it had permits, tokens, a consumer, a writable channel and waiting
-- entries, yet no read for five seconds (docs/design/causes.md). This is a fault of the broker. Unloading the topic makes a new dispatcher.
--   first_at, last_window_end   when it first stood still, and the end of the last window in which it did
--   stuck_s        seconds beyond the first five of each time
--   still          whether the broker's newest window has it
--   backlog, waiting   entries at the end of the last window
SELECT c.broker, c.epoch, c.topic, c.subscription,
  min(c.first_at) AS first_at,
  max(c.window_end) AS last_window_end,
  sum(c.ns) / 1e9 AS stuck_s,
  coalesce(bool_or(n.window_start IS NOT NULL), false) AS still,
  max_by(c.backlog_end, c.window_end) AS backlog,
  max_by(c.waiting_end, c.window_end) AS waiting,
  bool_and(c.complete) AS complete
FROM subscription_causes c
LEFT JOIN newest_windows n
  ON n.broker = c.broker AND n.epoch = c.epoch AND n.clock_segment = c.clock_segment AND n.window_start = c.window_start
WHERE c.cause = 'stuck'
GROUP BY c.broker, c.epoch, c.topic, c.subscription
