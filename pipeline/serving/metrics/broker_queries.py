"""The queries of the series that have no topic. Two brokers of a cluster have the same labels here: their counters are added up.

A counter begins anew with the process, so each is of its broker's newest epoch; it is known where that epoch's beginning is in the log and
nothing of it was lost.
"""

from pipeline.serving.metrics.queries import IS_SYSTEM
from schemas.packages.backlog.quotas import BUCKET_NAMES

#: Every number of the cluster's brokers together; nothing where one of them is not known.
_BUCKETS = ",\n  ".join(f"sum({name}_since_start) AS {name}" for name in BUCKET_NAMES)
CHECK_DURATIONS = f"""WITH ranked AS (
  SELECT q.*,
    row_number() OVER (PARTITION BY q.broker ORDER BY q.clock_segment DESC, q.window_start DESC) AS age,
    min(q.completeness) OVER (PARTITION BY q.broker) AS least_completeness
  FROM quota_checks q
  JOIN newest_windows w ON w.broker = q.broker AND w.epoch = q.epoch
)
SELECT b.cluster,
  {_BUCKETS},
  sum(duration_sum_s_since_start) AS sum_s
FROM ranked r
JOIN brokers b ON b.broker = r.broker
WHERE r.age = 1
GROUP BY b.cluster
HAVING bool_and(r.least_completeness = 1 AND b.started_epoch <=> r.epoch)
ORDER BY b.cluster"""

#: Of the topics that their brokers have now, system topics among them, each since it was loaded.
EVICTIONS = f"""SELECT t.cluster,
  sum(t.storage_backlog_quota_exceeded_evictions_size) AS size,
  sum(t.storage_backlog_quota_exceeded_evictions_time) AS time
FROM topic_backlog_now t
JOIN newest_windows w ON w.broker = t.broker AND w.epoch = t.epoch
JOIN topics n ON n.topic = t.topic
GROUP BY t.cluster
HAVING bool_and(t.complete OR {IS_SYSTEM})
ORDER BY t.cluster"""

#: OpenTelemetry has no line of what never happened.
CONNECTIONS = """SELECT b.cluster, nullif(sum(c.paused_count), 0) AS paused, nullif(sum(c.resumed_count), 0) AS resumed
FROM channel_backpressure c
JOIN newest_windows w ON w.broker = c.broker AND w.epoch = c.epoch
JOIN brokers b ON b.broker = c.broker
GROUP BY b.cluster
HAVING bool_and(c.complete)
ORDER BY b.cluster"""
