-- A paused connection has a reason: none lasts longer than the pause, all together last as long or longer, and all fit into the window.
-- A violating row is a window of a connection. Time is of the monotonic clock, the window of the wall clock: a second between them is
-- no fault; and the last window before the clock was set may hold more.
SELECT broker, epoch, conn, opened_at, window_start, clock_segment, paused_ns, longest_reason_ns, all_reasons_ns, unwritable_ns, cooldown_ns
FROM (
  SELECT broker, epoch, conn, opened_at, window_start, window_end, clock_segment, paused_ns, unwritable_ns, cooldown_ns,
    max(clock_segment) OVER (PARTITION BY broker, epoch) AS newest_segment,
    greatest(
      throttled_ns_by_connection_max_pending_publish_requests, throttled_ns_by_io_thread_max_pending_publish_bytes,
      throttled_ns_by_topic_publish_rate, throttled_ns_by_resource_group_publish_rate, throttled_ns_by_broker_publish_rate,
      throttled_ns_by_outbound_buffer_full, throttled_ns_by_cooldown_rate_limit
    ) AS longest_reason_ns,
    throttled_ns_by_connection_max_pending_publish_requests + throttled_ns_by_io_thread_max_pending_publish_bytes
      + throttled_ns_by_topic_publish_rate + throttled_ns_by_resource_group_publish_rate + throttled_ns_by_broker_publish_rate
      + throttled_ns_by_outbound_buffer_full + throttled_ns_by_cooldown_rate_limit AS all_reasons_ns
  FROM channel_backpressure
)
WHERE longest_reason_ns > paused_ns
  OR all_reasons_ns < paused_ns
  OR (clock_segment = newest_segment
    AND greatest(paused_ns, unwritable_ns, cooldown_ns) > (unix_micros(window_end) - unix_micros(window_start)) * 1000 + 1000000000)
