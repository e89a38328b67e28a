-- Pulsar's counters since a dispatcher was opened are the sums of its windows, after every window: PIP-406's six, and the modelled six.
-- A violating row is a counter after a window: it differs from the sum of the windows until then.
-- After a backfill a lane that runs goes on from its old state: later dates are left out until they are computed anew, too.
WITH repaired AS (
  SELECT broker, max(last_date) AS until FROM backfills
  WHERE table_name = 'subscription_throttle' AND NOT dry_run AND broker IN (SELECT broker FROM backfills WHERE swapped) GROUP BY broker
)
SELECT broker, epoch, topic, subscription, opened_at, window_start, clock_segment, counter, sum_of_windows, since_open
FROM (
  SELECT broker, epoch, topic, subscription, opened_at, window_start, clock_segment, counter, since_open,
    sum(in_window) OVER (
      PARTITION BY broker, epoch, topic, subscription, opened_at, counter ORDER BY clock_segment, window_start
    ) AS sum_of_windows
  FROM (
    SELECT broker, epoch, topic, subscription, opened_at, window_start, clock_segment, stack(12,
      'dispatch_throttled_msg_events_by_broker_limit', dispatch_throttled_msg_events_by_broker_limit,
        dispatch_throttled_msg_events_by_broker_limit_since_open,
      'dispatch_throttled_msg_events_by_topic_limit', dispatch_throttled_msg_events_by_topic_limit,
        dispatch_throttled_msg_events_by_topic_limit_since_open,
      'dispatch_throttled_msg_events_by_subscription_limit', dispatch_throttled_msg_events_by_subscription_limit,
        dispatch_throttled_msg_events_by_subscription_limit_since_open,
      'dispatch_throttled_bytes_events_by_broker_limit', dispatch_throttled_bytes_events_by_broker_limit,
        dispatch_throttled_bytes_events_by_broker_limit_since_open,
      'dispatch_throttled_bytes_events_by_topic_limit', dispatch_throttled_bytes_events_by_topic_limit,
        dispatch_throttled_bytes_events_by_topic_limit_since_open,
      'dispatch_throttled_bytes_events_by_subscription_limit', dispatch_throttled_bytes_events_by_subscription_limit,
        dispatch_throttled_bytes_events_by_subscription_limit_since_open,
      'modelled_dispatch_throttled_msg_events_by_broker_limit', modelled_dispatch_throttled_msg_events_by_broker_limit,
        modelled_dispatch_throttled_msg_events_by_broker_limit_since_open,
      'modelled_dispatch_throttled_msg_events_by_topic_limit', modelled_dispatch_throttled_msg_events_by_topic_limit,
        modelled_dispatch_throttled_msg_events_by_topic_limit_since_open,
      'modelled_dispatch_throttled_msg_events_by_subscription_limit', modelled_dispatch_throttled_msg_events_by_subscription_limit,
        modelled_dispatch_throttled_msg_events_by_subscription_limit_since_open,
      'modelled_dispatch_throttled_bytes_events_by_broker_limit', modelled_dispatch_throttled_bytes_events_by_broker_limit,
        modelled_dispatch_throttled_bytes_events_by_broker_limit_since_open,
      'modelled_dispatch_throttled_bytes_events_by_topic_limit', modelled_dispatch_throttled_bytes_events_by_topic_limit,
        modelled_dispatch_throttled_bytes_events_by_topic_limit_since_open,
      'modelled_dispatch_throttled_bytes_events_by_subscription_limit', modelled_dispatch_throttled_bytes_events_by_subscription_limit,
        modelled_dispatch_throttled_bytes_events_by_subscription_limit_since_open
    ) AS (counter, in_window, since_open)
    FROM subscription_throttle
  )
)
LEFT JOIN repaired USING (broker)
WHERE sum_of_windows <> since_open AND NOT coalesce(CAST(window_start AS DATE) > until AND CAST(opened_at AS DATE) <= until, false)
