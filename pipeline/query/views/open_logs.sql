-- Of which brokers may the log go on, and from which event on is it new?
-- One row per broker, of its newest epoch. A log that was drained, or whose broker stopped, goes on behind its end alone.
--   window_start, as_of   of the newest finished window, as window_as_of in newest_events; null: none is over yet
--   from_seq              events from this number on were not there when the log was last taken to be over; 0: it never was
SELECT n.broker, n.epoch, n.window_start, n.window_as_of AS as_of, coalesce(e.from_seq, 0) AS from_seq
FROM newest_events n
LEFT JOIN (SELECT broker, epoch, max(next_seq) AS from_seq FROM lane_snapshots WHERE milestone IN ('ended', 'drained') GROUP BY broker, epoch) e
  ON e.broker = n.broker AND e.epoch = n.epoch
