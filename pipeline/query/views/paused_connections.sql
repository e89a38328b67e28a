-- Which connections does a broker not read from, why, since when, and whose producers wait?
-- One row per open connection that is paused now, or was in its broker's newest window; those that are paused now come first.
--   paused              whether it is paused at as_of; since and paused_s: since when, and how long until as_of (null: it goes on again)
--   why                 the throttle types that are set now; of a connection that goes on again, those of the newest window
--   window_paused_s, paused_share   paused time in the newest window, and its share of the window
--   producers, topics   most at once that waited in the newest window
--   topic_names         of these topics, with producers on this connection; fewer than topics if a producer_open is not in dispatch_events
--   unwritable          its write buffer is over the water marks: the client does not take the bytes that the broker sends
WITH held AS (
  SELECT DISTINCT broker, epoch, conn, topic
  FROM dispatch_events
  WHERE type = 'producer_open'
),
named AS (
  SELECT h.broker, h.epoch, h.conn, p.clock_segment, p.window_start, array_sort(collect_list(h.topic)) AS topics
  FROM held h
  JOIN topic_publish_pauses p ON p.broker = h.broker AND p.epoch = h.epoch AND p.topic = h.topic
  GROUP BY h.broker, h.epoch, h.conn, p.clock_segment, p.window_start
)
SELECT
  c.broker, c.epoch, c.conn, c.remote, c.paused, c.paused_since AS since, c.paused_s,
  CASE WHEN c.paused THEN c.throttle_types ELSE c.window_throttle_types END AS why,
  c.window_paused_s, c.window_paused_s * 1e6 / (unix_micros(c.last_window_end) - unix_micros(c.last_window_start)) AS paused_share,
  c.paused_count, c.producers, c.topics,
  CASE WHEN c.topics > 0 THEN coalesce(n.topics, array()) ELSE array() END AS topic_names,
  NOT c.writable AS unwritable, c.in_cooldown, c.requests_limited, c.pending_bytes_at_least, c.settings_vocabulary, c.as_of,
  c.complete, c.completeness
FROM channels_now c
LEFT JOIN named n
  ON n.broker = c.broker AND n.epoch = c.epoch AND n.conn = c.conn
  AND n.clock_segment = c.clock_segment AND n.window_start = c.last_window_start
WHERE c.paused OR c.window_paused_s > 0 OR c.paused_count > 0
ORDER BY c.paused DESC, c.paused_s DESC NULLS LAST, c.window_paused_s DESC, c.broker, c.conn
