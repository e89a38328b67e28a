-- The evicted entries of a decision, actual and planned, are the sums over the cursors that it moved; no move is without its decision.
-- A violating row is a decision.
WITH moved AS (
  SELECT broker, epoch, topic, check_number,
    count(planned_ledger) AS cursors_moved, sum(entries_planned) AS planned_by_moves, sum(entries_evicted) AS evicted_by_moves
  FROM quota_eviction_moves
  GROUP BY broker, epoch, topic, check_number
)
SELECT broker, epoch, topic, check_number, cursors_planned, coalesce(cursors_moved, 0) AS cursors_moved,
  entries_planned, coalesce(planned_by_moves, 0) AS planned_by_moves, entries_evicted, coalesce(evicted_by_moves, 0) AS evicted_by_moves
FROM quota_evictions FULL JOIN moved USING (broker, epoch, topic, check_number)
WHERE entries_planned IS NULL
  OR cursors_planned <> coalesce(cursors_moved, 0)
  OR entries_planned <> coalesce(planned_by_moves, 0)
  OR entries_evicted <> coalesce(evicted_by_moves, 0)
