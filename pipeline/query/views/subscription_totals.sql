-- How does each dispatcher stand since it was opened?
-- One row per dispatcher incarnation (a subscription's dispatcher from its opening to its end).
--   open                     no end is known; else closed_at is its end
--   …_since_open             Pulsar's own counters, as its admin stats and metrics show them; modelled_…: by the modelled limiters
--   reads … dispatched_bytes sums over all its windows
--   blocked_s, blocked_ns    time in which its latest read was blocked, in all and by the level that blocked it
--   waiting_entries, _bytes  beyond its read position at the end of last_window
--   completeness             the lowest of its windows; complete=false: its beginning was not seen, or events were lost since
WITH ranked AS (
  SELECT *,
    -- clock_segment first: after the host's clock was set back, later windows have earlier times.
    row_number() OVER (
      PARTITION BY broker, epoch, topic, subscription, opened_at ORDER BY clock_segment DESC, window_start DESC
    ) AS age
  FROM subscription_throttle
),
last_rows AS (SELECT * FROM ranked WHERE age = 1),
sums AS (
  SELECT broker, epoch, topic, subscription, opened_at,
    min(window_start) AS first_window_start,
    count(*) AS windows,
    min(completeness) AS completeness,
    sum(reads) AS reads,
    sum(reads_modelled) AS reads_modelled,
    sum(reads_shrunk) AS reads_shrunk,
    sum(reads_blocked) AS reads_blocked,
    sum(reads_blocked_by_broker_limit) AS reads_blocked_by_broker_limit,
    sum(reads_blocked_by_topic_limit) AS reads_blocked_by_topic_limit,
    sum(reads_blocked_by_subscription_limit) AS reads_blocked_by_subscription_limit,
    sum(reads_binding) AS reads_binding,
    sum(reads_nominal) AS reads_nominal,
    sum(left_mismatches) AS left_mismatches,
    sum(blocked_ns) AS blocked_ns,
    sum(blocked_ns_by_broker_limit) AS blocked_ns_by_broker_limit,
    sum(blocked_ns_by_topic_limit) AS blocked_ns_by_topic_limit,
    sum(blocked_ns_by_subscription_limit) AS blocked_ns_by_subscription_limit,
    sum(dispatches) AS dispatches,
    sum(dispatched_entries) AS dispatched_entries,
    sum(dispatched_msgs) AS dispatched_msgs,
    sum(dispatched_bytes) AS dispatched_bytes,
    sum(uncharged_msgs) AS uncharged_msgs,
    sum(oversized_dispatches) AS oversized_dispatches
  FROM subscription_throttle
  GROUP BY broker, epoch, topic, subscription, opened_at
)
SELECT
  l.broker, l.epoch, l.topic, l.subscription, l.opened_at,
  l.closed_at IS NULL AS open,
  l.closed_at, l.sub_type, l.complete, s.completeness,
  s.first_window_start,
  l.window_start AS last_window_start, l.window_end AS last_window_end, l.clock_segment AS last_clock_segment,
  s.windows,
  l.dispatch_throttled_msg_events_by_broker_limit_since_open,
  l.dispatch_throttled_msg_events_by_topic_limit_since_open,
  l.dispatch_throttled_msg_events_by_subscription_limit_since_open,
  l.dispatch_throttled_bytes_events_by_broker_limit_since_open,
  l.dispatch_throttled_bytes_events_by_topic_limit_since_open,
  l.dispatch_throttled_bytes_events_by_subscription_limit_since_open,
  l.modelled_dispatch_throttled_msg_events_by_broker_limit_since_open,
  l.modelled_dispatch_throttled_msg_events_by_topic_limit_since_open,
  l.modelled_dispatch_throttled_msg_events_by_subscription_limit_since_open,
  l.modelled_dispatch_throttled_bytes_events_by_broker_limit_since_open,
  l.modelled_dispatch_throttled_bytes_events_by_topic_limit_since_open,
  l.modelled_dispatch_throttled_bytes_events_by_subscription_limit_since_open,
  s.reads, s.reads_modelled, s.reads_shrunk, s.reads_blocked,
  s.reads_blocked_by_broker_limit, s.reads_blocked_by_topic_limit, s.reads_blocked_by_subscription_limit,
  s.reads_binding, s.reads_nominal, s.left_mismatches,
  s.blocked_ns / 1e9 AS blocked_s,
  s.blocked_ns, s.blocked_ns_by_broker_limit, s.blocked_ns_by_topic_limit, s.blocked_ns_by_subscription_limit,
  s.dispatches, s.dispatched_entries, s.dispatched_msgs, s.dispatched_bytes, s.uncharged_msgs, s.oversized_dispatches,
  l.waiting_entries, l.waiting_bytes
FROM last_rows l JOIN sums s
  ON s.broker = l.broker AND s.epoch = l.epoch AND s.topic = l.topic AND s.subscription = l.subscription AND s.opened_at = l.opened_at
