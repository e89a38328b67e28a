-- How often did limiters lower the reads of a partitioned topic's subscription, and is one partition held back more than the others?
-- One row per cluster, partitioned topic and subscription, the longest blocked first: its dispatchers in subscription_throttle_now (one a
-- partition), added up as Pulsar's partitioned-stats adds them. A dispatcher counts from its opening; a partition without one adds nothing.
--   partitions, partitions_throttled   with an open dispatcher; of them with a counter above 0
--   …_since_open             Pulsar's own counters (dispatchThrottledMsgEventsByBrokerLimit …), summed
--   throttled_events         all six together
--   reads … waiting_bytes    sums; blocked_s: seconds of all partitions, so it may exceed the time that went by
--   most_blocked_partition, _s, _share     blocked longest: how long, and its share of blocked_s; null: none was blocked
--   blocked_skew             largest ÷ mean of blocked time: 1 = even, as many as partitions = one has all of it
--   most_waiting_partition, _entries, _share   the most entries wait in it: how many, and their share; null: nothing waits
--   waiting_skew             largest ÷ mean of waiting entries
--   In both the lowest partition, if several are equal.
--   completeness             the lowest of any; complete=false: of at least one the beginning was not seen, or events were lost since
WITH added AS (
  SELECT cluster, tenant, namespace, partitioned_topic, subscription,
    count(*) AS partitions,
    count_if(throttled_events > 0) AS partitions_throttled,
    count(DISTINCT broker) AS brokers,
    min(opened_at) AS opened_at,
    sum(dispatch_throttled_msg_events_by_broker_limit_since_open) AS dispatch_throttled_msg_events_by_broker_limit_since_open,
    sum(dispatch_throttled_msg_events_by_topic_limit_since_open) AS dispatch_throttled_msg_events_by_topic_limit_since_open,
    sum(dispatch_throttled_msg_events_by_subscription_limit_since_open) AS dispatch_throttled_msg_events_by_subscription_limit_since_open,
    sum(dispatch_throttled_bytes_events_by_broker_limit_since_open) AS dispatch_throttled_bytes_events_by_broker_limit_since_open,
    sum(dispatch_throttled_bytes_events_by_topic_limit_since_open) AS dispatch_throttled_bytes_events_by_topic_limit_since_open,
    sum(dispatch_throttled_bytes_events_by_subscription_limit_since_open)
      AS dispatch_throttled_bytes_events_by_subscription_limit_since_open,
    sum(throttled_events) AS throttled_events,
    sum(reads) AS reads,
    sum(reads_blocked) AS reads_blocked,
    sum(reads_binding) AS reads_binding,
    sum(blocked_ns) AS blocked_ns,
    sum(dispatched_entries) AS dispatched_entries,
    sum(dispatched_msgs) AS dispatched_msgs,
    sum(dispatched_bytes) AS dispatched_bytes,
    sum(waiting_entries) AS waiting_entries,
    sum(waiting_bytes) AS waiting_bytes,
    max_by(partition, struct(blocked_ns, -partition)) FILTER (WHERE blocked_ns > 0) AS most_blocked_partition,
    max(blocked_ns) FILTER (WHERE blocked_ns > 0) AS most_blocked_ns,
    max_by(partition, struct(waiting_entries, -partition)) FILTER (WHERE waiting_entries > 0) AS most_waiting_partition,
    max(waiting_entries) FILTER (WHERE waiting_entries > 0) AS most_waiting_entries,
    min(completeness) AS completeness,
    bool_and(complete) AS complete
  FROM subscription_throttle_now
  WHERE partition >= 0
  GROUP BY cluster, tenant, namespace, partitioned_topic, subscription
)
SELECT
  cluster, tenant, namespace, partitioned_topic, subscription, partitions, partitions_throttled, brokers, opened_at,
  dispatch_throttled_msg_events_by_broker_limit_since_open,
  dispatch_throttled_msg_events_by_topic_limit_since_open,
  dispatch_throttled_msg_events_by_subscription_limit_since_open,
  dispatch_throttled_bytes_events_by_broker_limit_since_open,
  dispatch_throttled_bytes_events_by_topic_limit_since_open,
  dispatch_throttled_bytes_events_by_subscription_limit_since_open,
  throttled_events,
  reads, reads_blocked, reads_binding,
  blocked_ns / 1e9 AS blocked_s,
  dispatched_entries, dispatched_msgs, dispatched_bytes, waiting_entries, waiting_bytes,
  most_blocked_partition,
  most_blocked_ns / 1e9 AS most_blocked_s,
  most_blocked_ns / blocked_ns AS most_blocked_share,
  most_blocked_ns / blocked_ns * partitions AS blocked_skew,
  most_waiting_partition, most_waiting_entries,
  most_waiting_entries / waiting_entries AS most_waiting_share,
  most_waiting_entries / waiting_entries * partitions AS waiting_skew,
  completeness, complete
FROM added
ORDER BY blocked_ns DESC, throttled_events DESC, cluster, partitioned_topic, subscription
