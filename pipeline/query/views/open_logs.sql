-- Of which brokers may the log go on, and from which event on is it new?
-- One row per broker, of its newest epoch. A log whose broker stopped goes on behind its end alone: its end closes everything.
--   window_start, as_of   of the newest finished window, as window_as_of in newest_events; null: none is over yet
--   from_seq              events from this number on came after the broker's stop; 0: it never stopped
SELECT n.broker, n.epoch, n.window_start, n.window_as_of AS as_of, coalesce(e.from_seq, 0) AS from_seq
FROM newest_events n
LEFT JOIN (SELECT broker, epoch, max(next_seq) AS from_seq FROM lane_snapshots WHERE milestone = 'ended' GROUP BY broker, epoch) e
  ON e.broker = n.broker AND e.epoch = n.epoch
