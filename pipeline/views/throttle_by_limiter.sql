-- Which limiter held each subscription back, how often and for how long, over time?
-- One row per subscription, window and level (broker, topic, subscription) that did anything to it.
--   msg_events, bytes_events     reads whose messages or bytes this level's limiter lowered (Pulsar's throttled events)
--   reads_blocked, blocked_s     reads it left with nothing, and the time until the next read (blocked_ns: the same in ns)
--   blocked_share                of the window's length, 0 to 1
--   decisive_msg, decisive_bytes reads for which it was the last to lower that dimension: the limiter to raise first
--   subscription_reads, …_binding, …_nominal
--       of the subscription, by whichever level, the same on each of its rows of a window: do not add them up over levels.
--       binding: more was waiting than was granted. nominal: nobody needed the rest
WITH by_level AS (
  SELECT broker, epoch, topic, subscription, window_start, window_end, completeness, reads, reads_binding, reads_nominal,
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
)
SELECT
  broker, epoch, topic, subscription, window_start, window_end, level,
  sum(msg_events) AS msg_events,
  sum(bytes_events) AS bytes_events,
  sum(blocked) AS reads_blocked,
  sum(blocked_ns) / 1e9 AS blocked_s,
  sum(blocked_ns) AS blocked_ns,
  sum(blocked_ns) / 1e3 / (unix_micros(window_end) - unix_micros(window_start)) AS blocked_share,
  sum(decisive_msg) AS decisive_msg,
  sum(decisive_bytes) AS decisive_bytes,
  sum(reads) AS subscription_reads,
  sum(reads_binding) AS subscription_reads_binding,
  sum(reads_nominal) AS subscription_reads_nominal,
  min(completeness) AS completeness
FROM by_level
GROUP BY broker, epoch, topic, subscription, window_start, window_end, level
HAVING sum(msg_events) > 0 OR sum(bytes_events) > 0 OR sum(blocked_ns) > 0
