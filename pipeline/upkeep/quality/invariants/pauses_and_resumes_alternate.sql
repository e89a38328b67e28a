-- A connection is paused, then resumed, in turn: since it was opened it was paused once more than resumed if it stands paused, else as often.
-- A violating row is a window of a connection: until its end the counts differ by something else. A connection that ends while it is paused
-- is not resumed: its last window stands paused.
SELECT broker, epoch, conn, opened_at, window_start, clock_segment, paused, outstanding, modelled_outstanding
FROM (
  SELECT broker, epoch, conn, opened_at, window_start, clock_segment, paused,
    sum(paused_count - resumed_count) OVER life AS outstanding,
    sum(modelled_paused_count - modelled_resumed_count) OVER life AS modelled_outstanding
  FROM channel_backpressure
  WINDOW life AS (PARTITION BY broker, epoch, conn, opened_at ORDER BY clock_segment, window_start)
)
WHERE outstanding <> CAST(paused AS INT) OR modelled_outstanding NOT IN (0, 1)
