-- How often did each broker evict, for which quota, and how much was lost?
-- Two rows per broker, of its newest epoch with checks: one per quota type.
--   evictions            as pulsar_broker_storage_backlog_quota_exceeded_evictions_total shows it: the sum over the topics that the broker
--                        has now, of each since it was loaded. It falls when a topic is unloaded
--   evictions_durable    since the broker started, over all topics it ever had in this epoch: it never falls
--   topics               topics with at least one of them; evictions count rounds, also those that found nothing to evict
--   entries_evicted      unacknowledged entries that were lost in this epoch
--   as_of                the broker's latest check
WITH by_topic AS (
  SELECT broker, epoch, topic, max(check_number) AS check_number,
    max_by(storage_backlog_quota_exceeded_evictions_size_durable, check_number) AS size,
    max_by(storage_backlog_quota_exceeded_evictions_time_durable, check_number) AS time
  FROM topic_backlog
  GROUP BY broker, epoch, topic
),
since_start AS (
  SELECT t.broker, t.epoch,
    stack(2,
      'size', sum(t.size), count_if(t.size > 0), sum(n.storage_backlog_quota_exceeded_evictions_size),
      'time', sum(t.time), count_if(t.time > 0), sum(n.storage_backlog_quota_exceeded_evictions_time)
    ) AS (quota_type, evictions_durable, topics, evictions)
  FROM by_topic t
  LEFT JOIN topic_backlog_now n ON n.broker = t.broker AND n.epoch = t.epoch AND n.topic = t.topic
  GROUP BY t.broker, t.epoch
),
lost AS (
  SELECT broker, epoch, quota_type, sum(entries_evicted) AS entries_evicted
  FROM quota_evictions
  GROUP BY broker, epoch, quota_type
)
SELECT
  b.cluster, s.broker, s.epoch, s.quota_type,
  coalesce(s.evictions, 0) AS evictions,
  s.evictions_durable, s.topics,
  coalesce(l.entries_evicted, 0) AS entries_evicted,
  i.last_check_at AS as_of
FROM since_start s
JOIN check_intervals i ON i.broker = s.broker AND i.epoch = s.epoch AND i.newest
LEFT JOIN brokers b ON b.broker = s.broker
LEFT JOIN lost l ON l.broker = s.broker AND l.epoch = s.epoch AND l.quota_type = s.quota_type
ORDER BY s.evictions_durable DESC, b.cluster, s.broker, s.quota_type
