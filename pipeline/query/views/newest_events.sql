-- Up to which event is each broker known, and up to which finished window?
-- One row per broker, of its newest epoch of which the tables have anything. It has the instant that "now" means for the broker.
--   as_of          greatest ts of the events that the tables have whole: changes of causes are known until then. Of a warehouse that an
--                  earlier version wrote: as window_as_of
--   clock_segment, window_start, window_end, window_as_of   of its newest finished window, which all other figures are as of; as in
--                  newest_windows. Null: the broker has just started, and none is over yet
WITH reached AS (
  -- One row, however long the job runs: the others are not opened for it.
  SELECT inline(newest_events)
  FROM batch_manifest
  WHERE query = 'lanes' AND batch_id = (SELECT max(batch_id) FROM batch_manifest WHERE query = 'lanes')
),
events AS (
  SELECT n.broker, r.epoch, r.at FROM reached r JOIN names n ON n.id = r.broker_id WHERE n.level = 'broker'
),
windows AS (
  -- clock_segment before window_start: after the host's clock was set back, later windows have earlier times.
  SELECT broker, epoch, max(struct(clock_segment, window_start, window_end, log_until)) AS newest
  FROM broker_windows
  WHERE log_until > window_start
  GROUP BY broker, epoch
),
epochs AS (
  SELECT broker, max(epoch) AS epoch FROM (SELECT broker, epoch FROM events UNION ALL SELECT broker, epoch FROM windows) GROUP BY broker
)
SELECT p.broker, p.epoch, coalesce(e.at, w.newest.log_until) AS as_of,
  w.newest.clock_segment, w.newest.window_start, w.newest.window_end, w.newest.log_until AS window_as_of
FROM epochs p
LEFT JOIN events e ON e.broker = p.broker AND e.epoch = p.epoch
LEFT JOIN windows w ON w.broker = p.broker AND w.epoch = p.epoch
LEFT JOIN brokers b ON b.broker = p.broker
WHERE e.broker IS NOT NULL OR b.started_epoch IS NULL OR b.started_epoch <= p.epoch
