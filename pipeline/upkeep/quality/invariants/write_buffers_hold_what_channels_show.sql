-- All write buffers together hold at least the bytes of any one of them, and as many connections are paused or unwritable as their rows show.
-- A violating row is a window of a broker.
WITH shown AS (
  SELECT broker, epoch, window_start, clock_segment,
    max(pending_bytes_at_least) AS most_bytes,
    count_if(closed_at IS NULL AND NOT writable) AS unwritable,
    count_if(closed_at IS NULL AND paused) AS paused
  FROM channel_backpressure
  GROUP BY broker, epoch, window_start, clock_segment
)
SELECT broker, epoch, window_start, clock_segment, write_buf_memory_used_bytes_max, most_bytes, connections_open,
  connections_unwritable, unwritable, connections_paused, paused
FROM channel_memory FULL JOIN shown USING (broker, epoch, window_start, clock_segment)
WHERE coalesce(most_bytes, 0) > coalesce(write_buf_memory_used_bytes_max, 0)
  OR write_buf_memory_used_bytes > write_buf_memory_used_bytes_max
  OR connections_unwritable <> coalesce(unwritable, 0)
  OR connections_paused <> coalesce(paused, 0)
  OR greatest(connections_unwritable, connections_paused) > connections_open
  OR exact <> (known_from = 'heartbeat')
