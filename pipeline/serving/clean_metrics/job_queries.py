"""The queries behind `/metrics/clean` that have no topic: brokers and their logs, connections, the job."""

from pipeline.serving.clean_metrics.queries import LIVE

#: A row for each broker of the log, also for those that have stopped.
BROKERS = """WITH gaps AS (
  SELECT broker, sum(CASE WHEN kind = 'lost' THEN events ELSE 0 END) AS lost, sum(CASE WHEN kind = 'clock_step' THEN 1 ELSE 0 END) AS steps
  FROM log_gaps
  GROUP BY broker
),
late AS (SELECT broker, count(*) AS late FROM late_events GROUP BY broker),
ended AS (SELECT broker, epoch FROM lane_snapshots WHERE milestone = 'ended' GROUP BY broker, epoch)
SELECT b.cluster, n.broker, b.version, 1 AS one,
  unix_micros(n.as_of) / 1e6 AS as_of_s,
  unix_micros(n.window_as_of) / 1e6 AS window_as_of_s,
  w.completeness,
  CASE WHEN e.broker IS NULL THEN 0 ELSE 1 END AS stopped,
  coalesce(g.lost, 0) AS lost, coalesce(g.steps, 0) AS clock_steps, coalesce(l.late, 0) AS late
FROM newest_events n
LEFT JOIN broker_windows w
  ON w.broker = n.broker AND w.epoch = n.epoch AND w.clock_segment = n.clock_segment AND w.window_start = n.window_start
LEFT JOIN brokers b ON b.broker = n.broker
LEFT JOIN ended e ON e.broker = n.broker AND e.epoch = n.epoch
LEFT JOIN gaps g ON g.broker = n.broker
LEFT JOIN late l ON l.broker = n.broker
ORDER BY n.as_of, n.broker"""

#: The level of all write buffers together: exact where a heartbeat reported it, else a bound.
CHANNELS = f"""WITH {LIVE}
SELECT l.cluster, m.broker,
  CASE WHEN m.exact THEN m.write_buf_memory_used_bytes END AS exact_bytes,
  m.write_buf_memory_used_bytes AS least_bytes,
  m.connections_open, m.connections_unwritable, m.connections_paused
FROM channel_memory_now m
JOIN live l ON l.broker = m.broker AND l.epoch = m.epoch
WHERE m.fresh
ORDER BY m.write_buf_memory_used_bytes DESC, m.broker"""

#: What a query does not count is null; a lag is known of `stream` alone.
JOB = """WITH lags AS (SELECT query, max_by(event_lag_s, ended_at) AS lag_s FROM micro_batches WHERE event_lag_s IS NOT NULL GROUP BY query)
SELECT m.query,
  CASE WHEN m.query = 'ingest' THEN sum(m.bronze) END AS bronze,
  CASE WHEN m.query = 'ingest' THEN sum(m.quarantined) END AS quarantined,
  CASE WHEN m.query = 'lanes' THEN sum(m.applied) END AS applied,
  CASE WHEN m.query = 'lanes' THEN sum(m.duplicates) END AS duplicates,
  CASE WHEN m.query = 'lanes' THEN sum(m.late) END AS late,
  CASE WHEN m.query = 'lanes' THEN sum(m.lost) END AS lost,
  unix_micros(max(m.written_at)) / 1e6 AS written_s,
  max(g.lag_s) AS lag_s
FROM batch_manifest m
LEFT JOIN lags g ON g.query = m.query
GROUP BY m.query
ORDER BY m.query"""

BALANCE = "SELECT held, lanes_behind FROM log_balance"

QUARANTINE = "SELECT reason, count(*) AS lines FROM quarantine GROUP BY reason ORDER BY lines DESC, reason"
