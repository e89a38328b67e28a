-- What the books call late or lost is in late_events and log_gaps, event by event, and nothing else is.
-- A violating row is one of the two sums.
WITH sums AS (
  SELECT *
  FROM (SELECT coalesce(sum(late), 0) AS late, coalesce(sum(lost), 0) AS lost FROM batch_manifest WHERE query = 'lanes')
  CROSS JOIN (SELECT count(*) AS late_told FROM late_events)
  CROSS JOIN (SELECT coalesce(sum(events), 0) AS lost_told FROM log_gaps WHERE kind = 'lost')
)
SELECT * FROM (SELECT stack(2, 'late', late, late_told, 'lost', lost, lost_told) AS (what, booked, told) FROM sums) WHERE booked <> told
