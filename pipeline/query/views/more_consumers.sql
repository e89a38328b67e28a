-- Would more consumers help, and how fast could the subscription go then?
-- One row per subscription with a backlog in the last ten minutes before its broker's newest window ended; none for Pulsar's own cursors.
--   answer        yes: at least four fifths of its entries × time lacked consumers or their permits. no: at most a fifth. partly: between.
--                 Entries that are delivered and not acknowledged (in_flight) lack consumers, too, if it is outpaced, as in
--                 catch_up_forecasts. At least partly, where the newest window has mainly no consumer. Null: a quota shuts producers
--                 out, so nobody knows whether consumers acknowledge less than comes without that
--   why           no: the largest cause that more consumers do not change. one_active_consumer: only one consumer of such a subscription is
--                 served at a time (Exclusive, Failover). reader: another reader would read everything by itself. yes and partly:
--                 no_consumer, no_permits or in_flight, whichever has most. shut_out: of null
--   consumers_share, limits_share   of entries × time: for want of consumers or permits; held back by a limiter
--   dispatched_per_s   messages per second that it got in the newest window
--   most_msgs_per_s, most_bytes_per_s   the least of the limits in force in the newest window (its own, the topic's, the broker's, which
--                 others may share): more than this comes from no number of consumers; null: no limit
WITH charged AS (
  SELECT c.broker, c.epoch, c.topic, c.subscription, c.cause, sum(c.entry_us) AS entry_us, sum(c.ns) AS ns,
    bool_or(c.is_main AND c.window_start = n.window_start AND c.cause = 'no_consumer') AS is_left_alone
  FROM subscription_causes c
  JOIN newest_windows n ON n.broker = c.broker AND n.epoch = c.epoch AND n.clock_segment = c.clock_segment
  WHERE c.window_start < n.as_of AND unix_micros(c.window_end) > unix_micros(n.as_of) - 600000000
  GROUP BY c.broker, c.epoch, c.topic, c.subscription, c.cause
),
of_late AS (
  -- Between the checks of the last half minute, and the one before; the last two at least. Of one alone: since the cursor was opened.
  SELECT broker, epoch, topic, subscription,
    max(published_entries) - CASE WHEN count(*) > 1 THEN min(published_entries) ELSE 0 END AS came,
    max(acknowledged_entries) - CASE WHEN count(*) > 1 THEN min(acknowledged_entries) ELSE 0 END AS acknowledged,
    bool_or(was_shut) AS was_shut
  FROM (
    SELECT s.*, coalesce(lag(SHUTS_OUT(t)) OVER by_number, false) AS was_shut,
      coalesce(lead(unix_micros(s.check_time)) OVER by_number, unix_micros(s.check_time)) > r.newest_us - 29000000 AS is_late
    FROM (SELECT *, max(unix_micros(check_time)) OVER (PARTITION BY broker, epoch, topic) AS newest_us FROM recent_checks) r
    JOIN subscription_backlog s ON s.broker = r.broker AND s.epoch = r.epoch AND s.topic = r.topic AND s.check_number = r.check_number
    JOIN topic_backlog t ON t.broker = r.broker AND t.epoch = r.epoch AND t.topic = r.topic AND t.check_number = r.check_number
    WINDOW by_number AS (PARTITION BY s.broker, s.epoch, s.topic, s.subscription, s.opened_at ORDER BY s.check_number)
  )
  WHERE is_late
  GROUP BY broker, epoch, topic, subscription, opened_at
),
outpaced AS (
  SELECT broker, epoch, topic, subscription, bool_or(OUTPACED(came, acknowledged)) AS is_outpaced, bool_or(was_shut) AS was_shut
  FROM of_late
  GROUP BY broker, epoch, topic, subscription
),
wanting AS (
  SELECT c.*, c.cause IN ('no_consumer', 'no_permits') OR c.cause = 'in_flight' AND coalesce(o.is_outpaced, false) AS wants_consumers,
    c.cause = 'in_flight' AND coalesce(o.was_shut AND NOT o.is_outpaced, false) AS may_want
  FROM charged c
  LEFT JOIN outpaced o ON o.broker = c.broker AND o.epoch = c.epoch AND o.topic = c.topic AND o.subscription = c.subscription
),
shares AS (
  SELECT broker, epoch, topic, subscription,
    sum(entry_us) AS entry_us,
    try_divide(sum(CASE WHEN wants_consumers THEN entry_us ELSE 0 END), sum(entry_us)) AS consumers_share,
    try_divide(sum(CASE WHEN cause = 'throttled' THEN entry_us ELSE 0 END), sum(entry_us)) AS limits_share,
    max_by(cause, struct(CASE WHEN wants_consumers THEN entry_us ELSE -1 END, cause)) AS for_want_of,
    max_by(cause, struct(CASE WHEN wants_consumers THEN -1 ELSE entry_us END, cause)) AS held_by,
    bool_or(is_left_alone) AS is_left_alone,
    max_by(may_want, struct(entry_us, cause)) AS may_want
  FROM wanting
  GROUP BY broker, epoch, topic, subscription
),
served AS (
  SELECT t.broker, t.epoch, t.topic, t.subscription,
    sum(t.dispatched_msgs) * 1e6 / nullif(max(unix_micros(n.as_of) - unix_micros(t.window_start)), 0) AS dispatched_per_s
  FROM subscription_throttle t
  JOIN newest_windows n
    ON n.broker = t.broker AND n.epoch = t.epoch AND n.clock_segment = t.clock_segment AND n.window_start = t.window_start
  GROUP BY t.broker, t.epoch, t.topic, t.subscription
),
types AS (
  -- As the newest dispatcher has it, also where nothing was read since long.
  SELECT broker, epoch, topic, subscription, max_by(sub_type, struct(clock_segment, window_start)) AS sub_type
  FROM subscription_throttle
  WHERE sub_type IS NOT NULL
  GROUP BY broker, epoch, topic, subscription
),
kinds AS (
  SELECT broker, epoch, topic, subscription, max_by(cursor_kind, check_number) AS cursor_kind
  FROM subscription_backlog
  WHERE cursor_kind <> 'subscription'
  GROUP BY broker, epoch, topic, subscription
),
limits AS (
  SELECT l.broker, l.epoch, l.level, l.topic, l.subscription, l.dimension,
    max_by(CAST(l.rate AS DOUBLE) * 1e3 / nullif(l.period_ms, 0), l.created_at) AS per_second
  FROM limiter_windows l
  JOIN newest_windows n
    ON n.broker = l.broker AND n.epoch = l.epoch AND n.clock_segment = l.clock_segment AND n.window_start = l.window_start
  WHERE l.closed_at IS NULL
  GROUP BY l.broker, l.epoch, l.level, l.topic, l.subscription, l.dimension
),
passed AS (
  -- Each limit that its reads pass. A join for each level, on equal names: one for all would compare every subscription with every limit.
  SELECT s.broker, s.epoch, s.topic, s.subscription, l.dimension, l.per_second
  FROM shares s
  JOIN limits l ON l.broker = s.broker AND l.epoch = s.epoch
  WHERE l.level = 'broker'
  UNION ALL
  SELECT s.broker, s.epoch, s.topic, s.subscription, l.dimension, l.per_second
  FROM shares s
  JOIN limits l ON l.broker = s.broker AND l.epoch = s.epoch AND l.topic = s.topic
  WHERE l.level = 'topic'
  UNION ALL
  SELECT s.broker, s.epoch, s.topic, s.subscription, l.dimension, l.per_second
  FROM shares s
  JOIN limits l ON l.broker = s.broker AND l.epoch = s.epoch AND l.topic = s.topic AND l.subscription = s.subscription
  WHERE l.level = 'subscription'
),
bounded AS (
  SELECT broker, epoch, topic, subscription,
    min(CASE WHEN dimension = 'msg' THEN per_second END) AS most_msgs_per_s,
    min(CASE WHEN dimension = 'bytes' THEN per_second END) AS most_bytes_per_s
  FROM passed
  GROUP BY broker, epoch, topic, subscription
),
typed AS (
  SELECT s.*, t.sub_type, coalesce(k.cursor_kind = 'reader', false) AS is_reader,
    coalesce(t.sub_type IN ('Exclusive', 'Failover'), false) AS has_one_active,
    s.may_want AND NOT s.is_left_alone
      AND NOT coalesce(k.cursor_kind = 'reader' OR t.sub_type IN ('Exclusive', 'Failover'), false) AS is_unknown
  FROM shares s
  LEFT JOIN types t ON t.broker = s.broker AND t.epoch = s.epoch AND t.topic = s.topic AND t.subscription = s.subscription
  LEFT JOIN kinds k ON k.broker = s.broker AND k.epoch = s.epoch AND k.topic = s.topic AND k.subscription = s.subscription
  WHERE s.entry_us > 0 AND coalesce(k.cursor_kind, 'subscription') IN ('subscription', 'reader')
)
SELECT s.broker, s.epoch, s.topic, s.subscription,
  CASE
    WHEN s.is_unknown THEN NULL
    WHEN s.is_reader THEN 'no'
    WHEN s.is_left_alone THEN CASE WHEN s.consumers_share >= 0.8 THEN 'yes' ELSE 'partly' END
    WHEN s.consumers_share <= 0.2 OR s.has_one_active AND s.for_want_of <> 'no_consumer' THEN 'no'
    WHEN s.consumers_share >= 0.8 THEN 'yes'
    ELSE 'partly'
  END AS answer,
  CASE
    WHEN s.is_unknown THEN 'shut_out'
    WHEN s.is_left_alone AND NOT s.is_reader THEN 'no_consumer'
    WHEN s.consumers_share <= 0.2 THEN s.held_by
    WHEN s.is_reader THEN 'reader'
    WHEN s.has_one_active AND s.for_want_of <> 'no_consumer' THEN 'one_active_consumer'
    ELSE s.for_want_of
  END AS why,
  s.consumers_share, s.limits_share, s.sub_type, d.dispatched_per_s, b.most_msgs_per_s, b.most_bytes_per_s
FROM typed s
LEFT JOIN served d ON d.broker = s.broker AND d.epoch = s.epoch AND d.topic = s.topic AND d.subscription = s.subscription
LEFT JOIN bounded b ON b.broker = s.broker AND b.epoch = s.epoch AND b.topic = s.topic AND b.subscription = s.subscription
