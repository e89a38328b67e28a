-- The margin of a read without a limiter is counted for reads that the limiter blocked, and is no more than the read asked for.
-- A violating row is a subscription's window and level: more reads than were blocked at that level, or more granted than wanted.
SELECT m.broker, m.epoch, m.topic, m.subscription, m.window_start, m.clock_segment, m.level,
  m.reads, t.by_broker, t.by_topic, t.by_subscription, m.granted_entries, m.wanted_entries, m.granted_bytes, m.wanted_bytes
FROM (
  SELECT broker, epoch, topic, subscription, window_start, clock_segment, level, sum(reads) AS reads,
    sum(granted_entries) AS granted_entries, sum(wanted_entries) AS wanted_entries,
    sum(granted_bytes) AS granted_bytes, sum(wanted_bytes) AS wanted_bytes
  FROM limiter_margins
  GROUP BY broker, epoch, topic, subscription, window_start, clock_segment, level
) m
LEFT JOIN (
  SELECT broker, epoch, topic, subscription, window_start, clock_segment,
    sum(reads_blocked_by_broker_limit) AS by_broker, sum(reads_blocked_by_topic_limit) AS by_topic,
    sum(reads_blocked_by_subscription_limit) AS by_subscription
  FROM subscription_throttle
  GROUP BY broker, epoch, topic, subscription, window_start, clock_segment
) t
  ON t.broker = m.broker AND t.epoch = m.epoch AND t.topic = m.topic AND t.subscription = m.subscription
    AND t.window_start = m.window_start AND t.clock_segment = m.clock_segment
WHERE m.reads > coalesce(CASE m.level WHEN 'broker' THEN t.by_broker WHEN 'topic' THEN t.by_topic ELSE t.by_subscription END, 0)
  OR m.granted_entries > m.wanted_entries OR m.granted_bytes > m.wanted_bytes
