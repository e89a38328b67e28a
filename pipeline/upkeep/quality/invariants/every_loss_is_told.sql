-- Every late or lost event of the books is in late_events or log_gaps, event by event, and no other event is.
-- Of what was lost a backfill may have found some: late events that came for lost places, and were computed with. What it calls lost before
-- events that came after the end of their epoch, no micro-batch ever called so.
-- A violating row is one of the two sums.
WITH found AS (
  SELECT count(*) FILTER (WHERE reason = 'given_up') AS events FROM late_events WHERE backfilled_by IS NOT NULL
),
recorded AS (
  SELECT coalesce(sum(events), 0) AS events
  FROM log_gaps
  LEFT ANTI JOIN late_events l
    ON l.broker = log_gaps.broker AND l.epoch = log_gaps.epoch AND l.seq = log_gaps.to_seq + 1
      AND l.reason = 'epoch_over' AND l.backfilled_by IS NOT NULL
  WHERE kind = 'lost'
),
sums AS (
  SELECT late, late_recorded, lost, recorded.events + found.events AS lost_recorded
  FROM (SELECT coalesce(sum(late), 0) AS late, coalesce(sum(lost), 0) AS lost FROM batch_manifest WHERE query = 'lanes')
  CROSS JOIN (SELECT count(*) AS late_recorded FROM late_events)
  CROSS JOIN recorded
  CROSS JOIN found
)
SELECT *
FROM (SELECT stack(2, 'late', late, late_recorded, 'lost', lost, lost_recorded) AS (what, booked, recorded) FROM sums)
WHERE booked <> recorded
