-- The windows of a connection count its transitions: times paused, resumed and unwritable.
-- A violating row is a connection id of an epoch. Transitions are there before their window is: those after the newest window are left out;
-- in an epoch whose clock was set they look like the others, and there may be more of them than are counted.
WITH counted AS (
  SELECT broker, epoch, conn, sum(paused_count) AS paused_count, sum(resumed_count) AS resumed_count,
    sum(unwritable_count) AS unwritable_count
  FROM channel_backpressure
  GROUP BY broker, epoch, conn
),
newest AS (
  SELECT broker, epoch, max(window_end) AS until, max(clock_segment) > 0 AS clock_was_set
  FROM channel_backpressure
  GROUP BY broker, epoch
),
changed AS (
  SELECT t.broker, t.epoch, t.conn, n.clock_was_set,
    count_if(t.change = 'throttled' AND t.changed_connection) AS paused,
    count_if(t.change = 'unthrottled' AND t.changed_connection) AS resumed,
    count_if(t.change = 'unwritable') AS unwritable
  FROM channel_transitions t
  JOIN newest n ON n.broker = t.broker AND n.epoch = t.epoch
  WHERE t.ts < n.until OR n.clock_was_set
  GROUP BY t.broker, t.epoch, t.conn, n.clock_was_set
)
SELECT broker, epoch, conn, paused_count, paused, resumed_count, resumed, unwritable_count, unwritable
FROM counted FULL JOIN changed USING (broker, epoch, conn)
WHERE coalesce(paused_count, 0) > coalesce(paused, 0)
  OR coalesce(resumed_count, 0) > coalesce(resumed, 0)
  OR coalesce(unwritable_count, 0) > coalesce(unwritable, 0)
  OR (NOT clock_was_set
    AND (paused > coalesce(paused_count, 0) OR resumed > coalesce(resumed_count, 0) OR unwritable > coalesce(unwritable_count, 0)))
