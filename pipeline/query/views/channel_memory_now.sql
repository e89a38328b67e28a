-- How much memory do the write buffers of each broker's connections hold, and is that figure exact?
-- One row per broker of its newest epoch, of the latest window in which anything is known; the largest level first.
-- PIP-434 promises this as pulsar_server_channel_write_buf_memory_used_bytes. No broker has the metric.
--   write_buf_memory_used_bytes   the newest level that is known, at known_at
--   exact, known_from    true, heartbeat: the broker reported the sum over all channels. Else the level was at least this:
--                        writability: bytes of that channel, and the low mark for each other unwritable one; marks: the low mark for each
--   known_s_ago          from known_at to as_of
--   hour_max, hour_max_exact   greatest level of the windows that end in the hour before as_of. At least this: between two heartbeats
--                        nobody knows
--   connections_open, connections_unwritable, connections_paused   at the end of that window
--   fresh                that window is the broker's newest one
WITH ranked AS (
  SELECT m.*, n.as_of,
    m.clock_segment = n.clock_segment AND m.window_start = n.window_start AS fresh,
    max(struct(m.write_buf_memory_used_bytes_max, m.max_exact))
      FILTER (WHERE m.clock_segment = n.clock_segment AND unix_micros(n.as_of) - unix_micros(m.window_end) < 3600000000)
      OVER (PARTITION BY m.broker) AS hour,
    row_number() OVER (PARTITION BY m.broker ORDER BY m.clock_segment DESC, m.window_start DESC) AS age
  FROM channel_memory m
  JOIN newest_windows n ON n.broker = m.broker AND n.epoch = m.epoch
)
SELECT
  broker, epoch, write_buf_memory_used_bytes, exact, known_from, known_at,
  (unix_micros(as_of) - unix_micros(known_at)) / 1e6 AS known_s_ago,
  hour.write_buf_memory_used_bytes_max AS hour_max, hour.max_exact AS hour_max_exact,
  connections_open, connections_unwritable, connections_paused,
  window_start, window_end, as_of, fresh, completeness
FROM ranked
WHERE age = 1
ORDER BY write_buf_memory_used_bytes DESC, broker
