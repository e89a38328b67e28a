-- Whose write buffers grow, how fast, and when would they fill the broker's memory?
-- One row per broker (conn is null: all its connections together), and per connection that is unwritable now; worst first.
-- A writable connection holds at most the high water mark, so it has no row.
--   bytes, exact         the newest level. Exact where a heartbeat reported the sum; else a bound: at least this (a connection: always)
--   growth_bytes_s       from the oldest to the newest of the last five windows with a level that is known in the same way (exact or not);
--                        null: there is only one such window. A bound may stand still or fall while the buffer grows
--   limit_bytes, limit_of   the JVM's size, if a key or value of broker_start.settings names one: direct memory (MaxDirectMemorySize or
--                        maxDirectMemory, so also PULSAR_MEM and io.netty.maxDirectMemory), else heap (Xmx). Write buffers lie in direct
--                        memory by default. Pulsar's own configuration has no key for it: without one both are null, and only growth is shown
--   used_share           bytes ÷ limit_bytes
--   full_in_s            until bytes reach the limit at this growth; null: no limit, or no growth. At most this: other parts of the broker
--                        (the entry cache above all) need the same memory
--   status               critical: 90 % of the limit, or full within 5 minutes; at risk: within an hour; growing: no limit in sight;
--                        steady, falling: of an exact level only; unknown: a bound that does not grow, or one window only
--   pause_enabled        false: the broker goes on reading requests while their answers pile up
WITH starts AS (
  SELECT broker, epoch, lower(max(settings['pulsarChannelPauseReceivingRequestsIfUnwritable'])) = 'true' AS pause_enabled,
    max(array_join(transform(map_entries(settings), setting -> concat(setting.key, '=', setting.value)), ' ')) AS settings
  FROM dispatch_events
  WHERE seq = 1 AND type = 'broker_start'
  GROUP BY broker, epoch
),
named AS (
  SELECT broker, epoch, pause_enabled,
    regexp_extract(settings, r'(?i)maxDirectMemory(?:Size)?\s*=\s*([0-9]+)\s*[kmgt]?', 1) AS direct,
    regexp_extract(settings, r'(?i)maxDirectMemory(?:Size)?\s*=\s*[0-9]+\s*([kmgt]?)', 1) AS direct_unit,
    regexp_extract(settings, r'(?i)Xmx\s*=?\s*([0-9]+)\s*[kmgt]?', 1) AS heap,
    regexp_extract(settings, r'(?i)Xmx\s*=?\s*[0-9]+\s*([kmgt]?)', 1) AS heap_unit
  FROM starts
),
sized AS (
  -- 0 leaves the size to the JVM: that names none.
  SELECT broker, epoch, pause_enabled,
    nullif(try_multiply(try_cast(direct AS BIGINT), shiftleft(1L, 10 * (locate(lower(direct_unit), ' kmgt') - 1))), 0) AS direct_bytes,
    nullif(try_multiply(try_cast(heap AS BIGINT), shiftleft(1L, 10 * (locate(lower(heap_unit), ' kmgt') - 1))), 0) AS heap_bytes
  FROM named
),
levels AS (
  SELECT m.broker, m.epoch, CAST(NULL AS BIGINT) AS conn, CAST(NULL AS STRING) AS remote, m.window_start, m.known_at AS at,
    m.write_buf_memory_used_bytes AS bytes, m.exact, n.as_of
  FROM channel_memory m
  JOIN newest_windows n ON n.broker = m.broker AND n.epoch = m.epoch AND n.clock_segment = m.clock_segment
  UNION ALL
  -- When in the window is not known: the differences of windows count.
  SELECT b.broker, b.epoch, b.conn, c.remote, b.window_start, b.window_start, b.pending_bytes_at_least, false, c.as_of
  FROM channel_backpressure b
  JOIN channels_now c
    ON c.broker = b.broker AND c.epoch = b.epoch AND c.conn = b.conn AND c.opened_at = b.opened_at AND c.clock_segment = b.clock_segment
  WHERE NOT c.writable
),
recent AS (
  SELECT *, row_number() OVER (PARTITION BY broker, epoch, conn ORDER BY window_start DESC) AS age,
    first_value(exact) OVER (PARTITION BY broker, epoch, conn ORDER BY window_start DESC) AS newest_exact
  FROM levels
),
measured AS (
  SELECT broker, epoch, conn, max(remote) AS remote, max(as_of) AS as_of, max(at) AS level_at, bool_and(exact) AS exact,
    max_by(bytes, at) AS bytes,
    count(*) AS windows,
    try_divide((max_by(bytes, at) - min_by(bytes, at)) * 1e6, unix_micros(max(at)) - unix_micros(min(at))) AS growth_bytes_s
  FROM recent
  WHERE age <= 5 AND exact = newest_exact
  GROUP BY broker, epoch, conn
),
judged AS (
  SELECT m.*, s.pause_enabled, coalesce(s.direct_bytes, s.heap_bytes) AS limit_bytes,
    CASE WHEN s.direct_bytes IS NOT NULL THEN 'direct memory' WHEN s.heap_bytes IS NOT NULL THEN 'heap' END AS limit_of,
    CASE WHEN m.growth_bytes_s > 0 AND coalesce(s.direct_bytes, s.heap_bytes) IS NOT NULL
      THEN greatest(0, coalesce(s.direct_bytes, s.heap_bytes) - m.bytes) / m.growth_bytes_s END AS full_in_s
  FROM measured m
  LEFT JOIN sized s ON s.broker = m.broker AND s.epoch = m.epoch
)
SELECT
  broker, epoch, conn, remote,
  CASE
    WHEN bytes >= 0.9 * limit_bytes OR full_in_s < 300 THEN 'critical'
    WHEN full_in_s < 3600 THEN 'at risk'
    WHEN growth_bytes_s > 0 THEN 'growing'
    WHEN exact AND growth_bytes_s < 0 THEN 'falling'
    WHEN exact AND growth_bytes_s = 0 THEN 'steady'
    ELSE 'unknown'
  END AS status,
  bytes, exact, growth_bytes_s, windows, limit_bytes, limit_of, bytes / limit_bytes AS used_share, full_in_s, pause_enabled,
  level_at, as_of
FROM judged
ORDER BY array_position(array('critical', 'at risk', 'growing', 'unknown', 'steady', 'falling'), status), full_in_s ASC NULLS LAST,
  growth_bytes_s DESC NULLS LAST, broker, conn NULLS FIRST
