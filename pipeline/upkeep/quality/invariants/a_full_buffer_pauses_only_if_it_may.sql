-- With the feature on, a full write buffer is a reason to pause exactly as long as the channel is unwritable; with it off, never.
-- A violating row is a window of a connection. Only a connection whose beginning is known was surely watched all the time.
SELECT broker, epoch, conn, opened_at, window_start, clock_segment, pause_enabled, unwritable_ns, throttled_ns_by_outbound_buffer_full,
  cooldown_ns, requests_limited
FROM channel_backpressure
WHERE (NOT pause_enabled AND (throttled_ns_by_outbound_buffer_full > 0 OR cooldown_ns > 0 OR requests_limited > 0))
  OR (pause_enabled AND complete AND throttled_ns_by_outbound_buffer_full <> unwritable_ns)
