-- Pulsar's counters since a dispatcher was opened are the sums of its windows, after every window: PIP-406's six, and the modelled six.
-- A violating row is a window; `differ` names the counters.
SELECT broker, epoch, topic, subscription, opened_at, window_start, clock_segment, differ
FROM (
  SELECT *, array_compact(array(
    if(sum(dispatch_throttled_msg_events_by_broker_limit) OVER so_far
      <> dispatch_throttled_msg_events_by_broker_limit_since_open,
      'dispatch_throttled_msg_events_by_broker_limit', NULL),
    if(sum(dispatch_throttled_msg_events_by_topic_limit) OVER so_far
      <> dispatch_throttled_msg_events_by_topic_limit_since_open,
      'dispatch_throttled_msg_events_by_topic_limit', NULL),
    if(sum(dispatch_throttled_msg_events_by_subscription_limit) OVER so_far
      <> dispatch_throttled_msg_events_by_subscription_limit_since_open,
      'dispatch_throttled_msg_events_by_subscription_limit', NULL),
    if(sum(dispatch_throttled_bytes_events_by_broker_limit) OVER so_far
      <> dispatch_throttled_bytes_events_by_broker_limit_since_open,
      'dispatch_throttled_bytes_events_by_broker_limit', NULL),
    if(sum(dispatch_throttled_bytes_events_by_topic_limit) OVER so_far
      <> dispatch_throttled_bytes_events_by_topic_limit_since_open,
      'dispatch_throttled_bytes_events_by_topic_limit', NULL),
    if(sum(dispatch_throttled_bytes_events_by_subscription_limit) OVER so_far
      <> dispatch_throttled_bytes_events_by_subscription_limit_since_open,
      'dispatch_throttled_bytes_events_by_subscription_limit', NULL),
    if(sum(modelled_dispatch_throttled_msg_events_by_broker_limit) OVER so_far
      <> modelled_dispatch_throttled_msg_events_by_broker_limit_since_open,
      'modelled_dispatch_throttled_msg_events_by_broker_limit', NULL),
    if(sum(modelled_dispatch_throttled_msg_events_by_topic_limit) OVER so_far
      <> modelled_dispatch_throttled_msg_events_by_topic_limit_since_open,
      'modelled_dispatch_throttled_msg_events_by_topic_limit', NULL),
    if(sum(modelled_dispatch_throttled_msg_events_by_subscription_limit) OVER so_far
      <> modelled_dispatch_throttled_msg_events_by_subscription_limit_since_open,
      'modelled_dispatch_throttled_msg_events_by_subscription_limit', NULL),
    if(sum(modelled_dispatch_throttled_bytes_events_by_broker_limit) OVER so_far
      <> modelled_dispatch_throttled_bytes_events_by_broker_limit_since_open,
      'modelled_dispatch_throttled_bytes_events_by_broker_limit', NULL),
    if(sum(modelled_dispatch_throttled_bytes_events_by_topic_limit) OVER so_far
      <> modelled_dispatch_throttled_bytes_events_by_topic_limit_since_open,
      'modelled_dispatch_throttled_bytes_events_by_topic_limit', NULL),
    if(sum(modelled_dispatch_throttled_bytes_events_by_subscription_limit) OVER so_far
      <> modelled_dispatch_throttled_bytes_events_by_subscription_limit_since_open,
      'modelled_dispatch_throttled_bytes_events_by_subscription_limit', NULL)
  )) AS differ
  FROM subscription_throttle
  WINDOW so_far AS (PARTITION BY broker, epoch, topic, subscription, opened_at ORDER BY clock_segment, window_start)
)
WHERE size(differ) > 0
