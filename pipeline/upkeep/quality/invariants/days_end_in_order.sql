-- In an epoch dates end one after the other, each once and with a state to begin from; nothing follows the end of the epoch or its log.
-- A violating row is a milestone.
SELECT broker, epoch, milestone, event_date, next_seq, digest, day_before, last_seq
FROM (
  SELECT *,
    max(if(milestone = 'day', event_date, NULL)) OVER (
      PARTITION BY broker, epoch ORDER BY next_seq, milestone ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS day_before,
    max(next_seq) OVER (PARTITION BY broker, epoch) AS last_seq
  FROM (SELECT broker, epoch, milestone, event_date, next_seq, digest, hex(state) = '' AS no_state FROM lane_snapshots)
)
WHERE event_date < day_before
  OR (milestone = 'day' AND (event_date = day_before OR digest = 0 OR no_state))
  OR (milestone IN ('ended', 'drained') AND next_seq < last_seq)
