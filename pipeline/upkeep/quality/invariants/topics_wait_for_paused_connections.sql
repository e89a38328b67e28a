-- Producers wait only for paused connections: never longer than all of these are paused, and a pause counts once for each producer.
-- A violating row is a window of a broker: a topic waited longer than its connections, or more pauses were counted than they had.
WITH waited AS (
  SELECT broker, epoch, window_start, clock_segment,
    max(producers_paused_ns) AS longest_wait_ns, sum(publish_limited_times) AS publish_limited_times,
    max(connections_paused_max) AS connections_paused_max
  FROM topic_publish_pauses
  GROUP BY broker, epoch, window_start, clock_segment
),
paused AS (
  SELECT broker, epoch, window_start, clock_segment,
    sum(paused_ns) AS paused_ns, sum(paused_count * producers_paused_max) AS pauses_of_producers,
    count_if(paused_ns > 0 OR paused_count > 0) AS connections_paused
  FROM channel_backpressure
  GROUP BY broker, epoch, window_start, clock_segment
)
SELECT broker, epoch, window_start, clock_segment, longest_wait_ns, paused_ns, publish_limited_times, pauses_of_producers,
  connections_paused_max, connections_paused
FROM waited LEFT JOIN paused USING (broker, epoch, window_start, clock_segment)
WHERE longest_wait_ns > coalesce(paused_ns, 0)
  OR publish_limited_times > coalesce(pauses_of_producers, 0)
  OR connections_paused_max > coalesce(connections_paused, 0)
