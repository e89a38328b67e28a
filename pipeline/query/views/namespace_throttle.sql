-- How often did limiters lower reads in every namespace, and which subscription had most of it?
-- One row per cluster and namespace, the longest blocked first: its dispatchers in subscription_throttle_now, added up over topics and brokers.
-- With exposeTopicLevelMetricsInPrometheus=false Pulsar adds these counters up by the name of the subscription, but prints none of them.
--   namespace                null: topics whose name no broker would take
--   topics, dispatchers      topics with an open dispatcher; open dispatchers
--   …_since_open             Pulsar's own counters, each since its dispatcher was opened: a sum falls when one is closed
--   throttled_events         all six together
--   reads … waiting_bytes    sums; blocked_s: seconds of all dispatchers, so it may exceed the time that went by
--   worst_subscription       the name with the longest blocked time over all its topics, then with the most throttled events, then the last
--                            by name; null: no read was lowered
--   worst_blocked_s, worst_throttled_events   the figures of that name
--   completeness             the lowest of any; complete=false: of at least one the beginning was not seen, or events were lost since
WITH by_name AS (
  SELECT cluster, namespace, subscription, sum(blocked_ns) AS blocked_ns, sum(throttled_events) AS throttled_events
  FROM subscription_throttle_now
  GROUP BY cluster, namespace, subscription
),
worst AS (
  SELECT cluster, namespace, max(struct(blocked_ns, throttled_events, subscription)) AS name
  FROM by_name
  WHERE blocked_ns > 0 OR throttled_events > 0
  GROUP BY cluster, namespace
),
added AS (
  SELECT cluster, tenant, namespace,
    count(DISTINCT topic) AS topics,
    count(*) AS dispatchers,
    count(DISTINCT broker) AS brokers,
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
    sum(blocked_ns) / 1e9 AS blocked_s,
    sum(dispatched_entries) AS dispatched_entries,
    sum(dispatched_msgs) AS dispatched_msgs,
    sum(dispatched_bytes) AS dispatched_bytes,
    sum(waiting_entries) AS waiting_entries,
    sum(waiting_bytes) AS waiting_bytes,
    min(completeness) AS completeness,
    bool_and(complete) AS complete
  FROM subscription_throttle_now
  GROUP BY cluster, tenant, namespace
)
SELECT
  a.* EXCEPT (completeness, complete),
  w.name.subscription AS worst_subscription,
  w.name.blocked_ns / 1e9 AS worst_blocked_s,
  w.name.throttled_events AS worst_throttled_events,
  a.completeness, a.complete
FROM added a
LEFT JOIN worst w ON w.cluster <=> a.cluster AND w.namespace <=> a.namespace
ORDER BY a.blocked_s DESC, a.throttled_events DESC, a.cluster, a.namespace
