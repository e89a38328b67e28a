-- Does raising the limiter that holds a subscription help, or does it uncover the next one?
-- One row per subscription and limiter that blocked its reads in the last ten minutes before its broker's newest window ended, while
-- something waited (limiter_margins has each window).
--   reads            reads that this limiter blocked
--   wanted_entries   entries that they asked for; granted_entries: those that they would have got without this limiter, each read by itself
--   granted_share    granted_entries of wanted_entries; 0: the next limiter would have blocked them all
--   next_level, next_dimension   the limiter that would have bound the most of them; null: none, all that waits or was asked for is granted
--   next_share       of the reads: share that it would have bound
WITH counted AS (
  SELECT m.broker, m.epoch, m.topic, m.subscription, m.level, m.dimension, m.next_level, m.next_dimension,
    sum(m.reads) AS reads, sum(m.wanted_entries) AS wanted_entries, sum(m.granted_entries) AS granted_entries,
    bool_and(m.complete) AS complete
  FROM limiter_margins m
  JOIN newest_windows n ON n.broker = m.broker AND n.epoch = m.epoch AND n.clock_segment = m.clock_segment
  WHERE m.window_start < n.as_of AND unix_micros(m.window_end) > unix_micros(n.as_of) - 600000000
  GROUP BY m.broker, m.epoch, m.topic, m.subscription, m.level, m.dimension, m.next_level, m.next_dimension
),
placed AS (
  SELECT *,
    sum(reads) OVER limiter AS all_reads, sum(wanted_entries) OVER limiter AS all_wanted, sum(granted_entries) OVER limiter AS all_granted,
    bool_and(complete) OVER limiter AS all_complete,
    row_number() OVER (PARTITION BY broker, epoch, topic, subscription, level, dimension
      ORDER BY reads DESC, next_level NULLS LAST, next_dimension NULLS LAST) AS place
  FROM counted
  WINDOW limiter AS (PARTITION BY broker, epoch, topic, subscription, level, dimension)
)
SELECT broker, epoch, topic, subscription, level, dimension,
  all_reads AS reads, all_wanted AS wanted_entries, all_granted AS granted_entries,
  try_divide(CAST(all_granted AS DOUBLE), all_wanted) AS granted_share,
  next_level, next_dimension, try_divide(CAST(reads AS DOUBLE), all_reads) AS next_share, all_complete AS complete
FROM placed
WHERE place = 1
