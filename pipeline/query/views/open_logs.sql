-- Of which brokers may the log go on, and from which event on is it new?
-- One row per broker, of its newest epoch. A log whose broker stopped goes on behind its end alone: its end closes everything. At the end
-- of one that was drained its clients left, perhaps: that consumers are gone then is its end, too.
--   window_start, as_of   of the newest finished window, as window_as_of in newest_events; null: none is over yet
--   from_seq              events from this number on came after the broker's stop; 0: it never stopped
--   drained_seq           events before this number were there when the log was drained last; 0: it never was
SELECT n.broker, n.epoch, n.window_start, n.window_as_of AS as_of, coalesce(e.from_seq, 0) AS from_seq,
  coalesce(e.drained_seq, 0) AS drained_seq
FROM newest_events n
LEFT JOIN (
  SELECT broker, epoch, max(CASE WHEN milestone = 'ended' THEN next_seq END) AS from_seq,
    max(CASE WHEN milestone = 'drained' THEN next_seq END) AS drained_seq
  FROM lane_snapshots
  GROUP BY broker, epoch
) e
  ON e.broker = n.broker AND e.epoch = n.epoch
