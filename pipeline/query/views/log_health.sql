-- Can the figures of a broker be trusted: did its whole log arrive, in order, on a steady clock?
-- One row per broker and epoch. Reads all of dispatch_events.
--   rows_in = events + duplicates + late + quarantined + seq_taken   rows that arrived of it, by place (seq) in its log: whole and in time,
--                         again, after its place was given up (until a backfill counts it: then it is an event), rejected, or while
--                         another event had its place: above 0 two logs claim this broker and epoch (rows of quarantine say which)
--                         A rejected line without a readable broker, epoch, seq and ts is in no epoch.
--                         A line that was put back from quarantine came twice: rejected, then late
--   awaited               places before last_seq that neither came nor were given up: while > 0, events behind them are held
-- Events of an old epoch that `maintain` deleted (maintain.keep_days) are no gap: places before its first remaining event do not count.
--   lost_events, lost_ranges, clock_steps, largest_clock_step_s   from log_gaps (a negative step set the clock back), of the whole epoch:
--                         lost events stay counted after a deletion
--   completeness_min, windows_incomplete   over the windows of its tables; 1 and 0 = nothing is missing in them
--   warehouse_balanced, warehouse_held, lanes_behind   of log_balance, the same on every row
WITH kept AS (
  -- Whole dates are deleted: only an epoch that began on a date before that of its first event can have lost its beginning so.
  SELECT broker, epoch, CASE WHEN min(event_date) > to_date(timestamp_millis(epoch)) THEN min(seq) ELSE 1 END AS first_seq
  FROM dispatch_events
  GROUP BY broker, epoch
),
arrivals AS (
  SELECT broker, epoch, seq, ts, 1 AS event, 0 AS rejected, CAST(NULL AS STRING) AS late_reason FROM dispatch_events
  UNION ALL
  SELECT broker, epoch, seq, ts, 0, 1, NULL FROM quarantine
  WHERE broker IS NOT NULL AND epoch IS NOT NULL AND seq IS NOT NULL AND ts IS NOT NULL AND reason <> 'seq_taken'
  UNION ALL
  SELECT broker, epoch, seq, ts, 0, 1, NULL FROM quarantine_replays WHERE tombstone
  UNION ALL
  SELECT broker, epoch, seq, NULL, 0, 0, reason FROM late_events WHERE backfilled_by IS NULL
),
places AS (
  SELECT broker, epoch, seq, min(ts) AS first_ts, max(ts) AS last_ts,
    sum(event + rejected) AS rows_in,
    max(late_reason) AS late_reason,
    -- One row at most took the place, and one at most was the late one; the rest are repeats.
    CASE WHEN max(late_reason) IS NULL AND sum(event) > 0 THEN 1 ELSE 0 END AS taken,
    CASE WHEN sum(rejected) > 0 AND (max(late_reason) = 'quarantined' OR (max(late_reason) IS NULL AND sum(event) = 0)) THEN 1 ELSE 0 END
      AS rejected
  FROM arrivals
  LEFT JOIN kept USING (broker, epoch)
  WHERE seq >= coalesce(first_seq, 1)
  GROUP BY broker, epoch, seq
),
logs AS (
  SELECT broker, epoch, min(first_ts) AS first_ts, max(last_ts) AS last_ts, max(seq) AS last_seq,
    sum(rows_in) AS rows_in,
    sum(taken) AS events,
    sum(rejected) AS quarantined,
    count(late_reason) AS late,
    coalesce(max(seq) FILTER (WHERE late_reason IS NULL OR late_reason <> 'epoch_over'), 0) AS known_to
  FROM places
  GROUP BY broker, epoch
),
taken AS (
  SELECT broker, epoch, count(*) AS seq_taken
  FROM quarantine LEFT JOIN kept USING (broker, epoch)
  WHERE reason = 'seq_taken' AND seq >= coalesce(first_seq, 1)
  GROUP BY broker, epoch
),
gaps AS (
  SELECT broker, epoch,
    sum(events) AS lost_events,
    -- Of them at places that count: also what begins before the first one.
    sum(greatest(0, to_seq - greatest(from_seq, coalesce(first_seq, 1)) + 1)) FILTER (WHERE kind = 'lost') AS lost_counted,
    count_if(kind = 'lost') AS lost_ranges,
    count_if(kind = 'clock_step') AS clock_steps,
    max_by(step_us, abs(step_us)) FILTER (WHERE kind = 'clock_step') AS largest_step_us
  FROM log_gaps
  LEFT JOIN kept USING (broker, epoch)
  GROUP BY broker, epoch
),
windows AS (
  SELECT broker, epoch, min(completeness) AS completeness_min,
    count(DISTINCT CASE WHEN completeness < 1 THEN struct(window_start, clock_segment) END) AS windows_incomplete
  FROM (
    SELECT broker, epoch, window_start, clock_segment, completeness FROM subscription_throttle
    UNION ALL SELECT broker, epoch, window_start, clock_segment, completeness FROM limiter_windows
  )
  GROUP BY broker, epoch
)
SELECT
  l.broker, l.epoch, timestamp_millis(l.epoch) AS epoch_started,
  timestamp_micros(l.first_ts) AS first_ts, timestamp_micros(l.last_ts) AS last_ts, l.last_seq,
  l.rows_in, l.events,
  l.rows_in - l.events - l.late - l.quarantined - coalesce(t.seq_taken, 0) AS duplicates,
  l.late, l.quarantined,
  coalesce(t.seq_taken, 0) AS seq_taken,
  -- Without any event its events were deleted, or none came: nobody knows which.
  CASE WHEN k.first_seq IS NULL THEN 0
    ELSE greatest(0, l.known_to - (k.first_seq - 1) - l.events - l.quarantined - coalesce(g.lost_counted, 0)) END AS awaited,
  coalesce(g.lost_events, 0) AS lost_events,
  coalesce(g.lost_ranges, 0) AS lost_ranges,
  coalesce(g.clock_steps, 0) AS clock_steps,
  coalesce(g.largest_step_us, 0) / 1e6 AS largest_clock_step_s,
  w.completeness_min,
  coalesce(w.windows_incomplete, 0) AS windows_incomplete,
  b.ingest_balanced AND b.lanes_balanced AS warehouse_balanced,
  b.held AS warehouse_held,
  b.lanes_behind
FROM logs l
LEFT JOIN kept k ON k.broker = l.broker AND k.epoch = l.epoch
LEFT JOIN taken t ON t.broker = l.broker AND t.epoch = l.epoch
LEFT JOIN gaps g ON g.broker = l.broker AND g.epoch = l.epoch
LEFT JOIN windows w ON w.broker = l.broker AND w.epoch = l.epoch
CROSS JOIN log_balance b
