-- How does the dispatcher that serves each subscription now stand, and to which cluster, namespace and topic does it belong?
-- One row per cluster, topic and subscription with an open dispatcher: of subscription_totals the newest incarnation over all brokers and
-- epochs. A topic that moved, or whose broker is dead, has one row only; a subscription whose newest dispatcher is closed has none.
--   cluster … partition      to which the topic belongs, as in brokers and topics
--   throttled_events         the six counters …_since_open together
--   the other columns        as in subscription_totals
WITH newest_of_broker AS (
  SELECT *,
    -- In an epoch by clock_segment first: after the host's clock was set back, later dispatchers have earlier times.
    row_number() OVER (
      PARTITION BY broker, topic, subscription ORDER BY epoch DESC, last_clock_segment DESC, opened_at DESC
    ) AS age_on_broker
  FROM subscription_totals
),
placed AS (
  SELECT t.*, b.cluster,
    row_number() OVER (PARTITION BY b.cluster, t.topic, t.subscription ORDER BY t.opened_at DESC, t.epoch DESC, t.broker) AS age
  FROM newest_of_broker t
  LEFT JOIN brokers b ON b.broker = t.broker
  WHERE t.age_on_broker = 1
)
SELECT
  p.cluster, n.tenant, n.namespace, coalesce(n.partitioned_topic, p.topic) AS partitioned_topic, coalesce(n.partition, -1) AS partition,
  p.dispatch_throttled_msg_events_by_broker_limit_since_open
    + p.dispatch_throttled_msg_events_by_topic_limit_since_open
    + p.dispatch_throttled_msg_events_by_subscription_limit_since_open
    + p.dispatch_throttled_bytes_events_by_broker_limit_since_open
    + p.dispatch_throttled_bytes_events_by_topic_limit_since_open
    + p.dispatch_throttled_bytes_events_by_subscription_limit_since_open AS throttled_events,
  p.* EXCEPT (cluster, age_on_broker, age, open, closed_at)
FROM placed p
LEFT JOIN topics n ON n.topic = p.topic
WHERE p.age = 1 AND p.open
