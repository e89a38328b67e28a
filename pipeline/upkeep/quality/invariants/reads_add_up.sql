-- The counts of a window are the sums of their parts: shrunk + blocked = binding + nominal reads; blocked reads and time = those of their levels.
-- A violating row is a window of a dispatcher.
SELECT broker, epoch, topic, subscription, opened_at, window_start, clock_segment, reads, reads_shrunk, reads_blocked,
  reads_binding, reads_nominal, blocked_ns
FROM subscription_throttle
WHERE reads_shrunk + reads_blocked <> reads_binding + reads_nominal
  OR reads_shrunk + reads_blocked > reads
  OR reads_blocked <> reads_blocked_by_broker_limit + reads_blocked_by_topic_limit + reads_blocked_by_subscription_limit
  OR blocked_ns <> blocked_ns_by_broker_limit + blocked_ns_by_topic_limit + blocked_ns_by_subscription_limit
