-- Which cluster does each broker belong to, and which version runs there?
-- One row per broker that the log names. Join it to any table that has a broker: LEFT JOIN brokers USING (broker).
--   cluster, version    of its newest broker_start that is in dispatch_events
--   started_epoch       epoch of that broker_start
-- All three are null where no broker_start is there: its line was lost or rejected, or its date deleted (maintain.keep_days).
SELECT n.id AS broker_id, n.broker, s.newest.cluster, s.newest.version, s.newest.epoch AS started_epoch
FROM (SELECT id, broker FROM names WHERE level = 'broker') n
LEFT JOIN (
  SELECT broker, max(struct(epoch, cluster, version)) AS newest
  FROM dispatch_events
  -- It is the first event of its epoch: by seq, Delta skips all other files.
  WHERE seq = 1 AND type = 'broker_start'
  GROUP BY broker
) s ON s.broker = n.broker
