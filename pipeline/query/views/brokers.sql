-- Which cluster does each broker belong to, and which version runs there?
-- One row per broker that the log names. Join it to any table that has a broker: LEFT JOIN brokers USING (broker).
--   cluster, version    of its newest broker_start that is in dispatch_events
--   started_epoch       epoch of that broker_start; null: none is there, for its line was lost or rejected, or its date deleted
--                       (maintain.keep_days). Then version is null, and cluster is the one that all others name, if they name only one
WITH starts AS (
  SELECT broker, max(struct(epoch, cluster, version)) AS newest
  FROM dispatch_events
  -- It is the first event of its epoch: by seq, Delta skips all other files.
  WHERE seq = 1 AND type = 'broker_start'
  GROUP BY broker
),
common AS (
  SELECT CASE WHEN count(DISTINCT newest.cluster) = 1 THEN max(newest.cluster) END AS cluster FROM starts
)
SELECT n.id AS broker_id, n.broker, coalesce(s.newest.cluster, c.cluster) AS cluster, s.newest.version, s.newest.epoch AS started_epoch
FROM (SELECT id, broker FROM names WHERE level = 'broker') n
LEFT JOIN starts s ON s.broker = n.broker
CROSS JOIN common c
