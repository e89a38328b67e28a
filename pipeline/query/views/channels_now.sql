-- How does each connection of a broker stand now: writable, paused, cooling down, and which topics suffer?
-- One row per open connection that was ever unwritable, paused or limited, worst first, as of the end of its broker's newest window.
-- A connection to which nothing of that happened has no row. Left out are connections that are closed, as far as dispatch_events knows.
--   state               paused:     the broker reads nothing from the connection
--                       unwritable: its write buffer is over the water marks, and the broker goes on reading (the feature is off)
--                       cooldown:   a pause is over, and requests are limited for a while
--                       free:       none of these
--   throttle_types      why it is paused now; empty: it is not. window_throttle_types: every reason in its newest window
--   paused_since, unwritable_since, cooldown_since   when that began; null: not so now. A cooldown that was restarted began when it opened
--   paused_s            from paused_since to as_of
--   window_paused_s, window_unwritable_s, paused_count, requests_limited   of the broker's newest window
--   pending_bytes_last, pending_bytes_max   of its latest window, at its writability events: bytes of the channel when it crossed a water
--                       mark. Later growth is not in the log
--   pending_bytes_at_least   the most that the log proves for that window: a lower bound
--   producers, topics   most at once that could not publish because the connection was paused in the newest window
--   consumers, subscriptions   most at once that got single entries because it was unwritable in the newest window
--   settings_vocabulary, pause_enabled, water_marks_usable   as in channel_backpressure
--   remote              address of the client; null: its conn_open is not in dispatch_events
--   fresh               its latest window is the broker's newest one; false: nothing happened to it since last_window_end
WITH opened AS (
  SELECT broker, epoch, conn, ts, max(seq) AS seq, max(remote) AS remote
  FROM dispatch_events
  WHERE type = 'conn_open'
  GROUP BY broker, epoch, conn, ts
),
ended AS (
  -- Of a broker that stopped, all connections: conn is null there.
  SELECT broker, epoch, conn, max(seq) AS seq, max(ts) AS ts
  FROM dispatch_events
  WHERE type IN ('conn_close', 'broker_stop')
  GROUP BY broker, epoch, conn
),
ranked AS (
  SELECT c.*, n.as_of, n.window_end AS newest_end,
    c.clock_segment = n.clock_segment AND c.window_start = n.window_start AS fresh,
    row_number() OVER (PARTITION BY c.broker, c.epoch, c.conn ORDER BY c.clock_segment DESC, c.window_start DESC, c.opened_at DESC) AS age
  FROM channel_backpressure c
  JOIN newest_windows n ON n.broker = c.broker AND n.epoch = c.epoch
),
latest AS (
  -- A connection that ends quietly has no row of its end.
  SELECT r.*, o.remote, o.seq AS opened_seq
  FROM ranked r
  LEFT JOIN opened o ON o.broker = r.broker AND o.epoch = r.epoch AND o.conn = r.conn AND o.ts = unix_micros(r.opened_at)
  WHERE r.age = 1 AND r.closed_at IS NULL AND NOT EXISTS (
    SELECT * FROM ended e
    WHERE e.broker = r.broker AND e.epoch = r.epoch AND (e.conn IS NULL OR e.conn = r.conn)
      AND coalesce(e.seq > o.seq, e.ts >= unix_micros(r.opened_at))
  )
),
changed AS (
  SELECT l.broker, l.epoch, l.conn, t.throttle_type,
    sum(CASE t.change WHEN 'throttled' THEN 1 WHEN 'unthrottled' THEN -1 ELSE 0 END) AS times_set,
    max(struct(t.seq, t.ns, t.ts)) FILTER (WHERE t.change = 'throttled' AND t.changed_connection) AS paused,
    max(struct(t.seq, t.ns, t.ts)) FILTER (WHERE t.change = 'unwritable') AS unwritable,
    max(struct(t.seq, t.ns, t.ts)) FILTER (WHERE t.change = 'cooldown_opened') AS cooldown,
    max(struct(t.seq, t.ns, t.change)) FILTER (WHERE t.change LIKE 'cooldown%') AS of_cooldown
  FROM latest l
  JOIN channel_transitions t
    ON t.broker = l.broker AND t.epoch = l.epoch AND t.conn = l.conn
    AND t.ts < l.newest_end AND coalesce(t.seq >= l.opened_seq, t.ts >= l.opened_at)
  GROUP BY l.broker, l.epoch, l.conn, t.throttle_type
),
changes AS (
  SELECT broker, epoch, conn,
    array_sort(collect_list(CASE WHEN times_set > 0 THEN throttle_type END)) AS throttle_types,
    max(paused).ts AS paused_since,
    max(unwritable).ts AS unwritable_since,
    CASE WHEN max(of_cooldown).change <> 'cooldown_closed' THEN max(cooldown).ts END AS cooldown_since
  FROM changed
  GROUP BY broker, epoch, conn
)
SELECT
  l.broker, l.epoch, l.conn, l.remote,
  CASE WHEN l.paused THEN 'paused' WHEN NOT l.writable THEN 'unwritable' WHEN c.cooldown_since IS NOT NULL THEN 'cooldown' ELSE 'free' END
    AS state,
  l.writable, l.paused, c.cooldown_since IS NOT NULL AS in_cooldown,
  CASE WHEN l.paused THEN coalesce(c.throttle_types, array()) ELSE array() END AS throttle_types,
  CASE WHEN l.fresh THEN array_compact(array(
    CASE WHEN l.throttled_ns_by_connection_max_pending_publish_requests > 0 THEN 'ConnectionMaxPendingPublishRequestsExceeded' END,
    CASE WHEN l.throttled_ns_by_io_thread_max_pending_publish_bytes > 0 THEN 'IOThreadMaxPendingPublishBytesExceeded' END,
    CASE WHEN l.throttled_ns_by_topic_publish_rate > 0 THEN 'TopicPublishRate' END,
    CASE WHEN l.throttled_ns_by_resource_group_publish_rate > 0 THEN 'ResourceGroupPublishRate' END,
    CASE WHEN l.throttled_ns_by_broker_publish_rate > 0 THEN 'BrokerPublishRate' END,
    CASE WHEN l.throttled_ns_by_outbound_buffer_full > 0 THEN 'ConnectionOutboundBufferFull' END,
    CASE WHEN l.throttled_ns_by_cooldown_rate_limit > 0 THEN 'ConnectionPauseReceivingCooldownRateLimit' END
  )) ELSE array() END AS window_throttle_types,
  CASE WHEN l.paused THEN c.paused_since END AS paused_since,
  CASE WHEN NOT l.writable THEN c.unwritable_since END AS unwritable_since,
  c.cooldown_since,
  CASE WHEN l.paused THEN (unix_micros(l.as_of) - unix_micros(c.paused_since)) / 1e6 END AS paused_s,
  CASE WHEN l.fresh THEN l.paused_ns ELSE 0 END / 1e9 AS window_paused_s,
  CASE WHEN l.fresh THEN l.unwritable_ns ELSE 0 END / 1e9 AS window_unwritable_s,
  CASE WHEN l.fresh THEN l.paused_count ELSE 0 END AS paused_count,
  CASE WHEN l.fresh THEN l.requests_limited ELSE 0 END AS requests_limited,
  l.pending_bytes_last, l.pending_bytes_max, l.pending_bytes_at_least,
  CASE WHEN l.fresh THEN l.producers_paused_max ELSE 0 END AS producers,
  CASE WHEN l.fresh THEN l.topics_paused_max ELSE 0 END AS topics,
  CASE WHEN l.fresh THEN l.consumers_unwritable_max ELSE 0 END AS consumers,
  CASE WHEN l.fresh THEN l.subscriptions_unwritable_max ELSE 0 END AS subscriptions,
  l.settings_vocabulary, l.pause_enabled, l.water_marks_usable,
  l.opened_at, l.clock_segment, l.window_start AS last_window_start, l.window_end AS last_window_end, l.as_of, l.fresh,
  l.complete, l.completeness
FROM latest l
LEFT JOIN changes c ON c.broker = l.broker AND c.epoch = l.epoch AND c.conn = l.conn
ORDER BY array_position(array('paused', 'unwritable', 'cooldown', 'free'), state), paused_s DESC NULLS LAST,
  l.pending_bytes_at_least DESC, l.broker, l.conn
