-- Each transition of a subscription has another cause than the one before on its date, and a time that lies before it was noticed.
-- A violating row is a subscription of an epoch. By date: a backfill of one date leaves the rows of the next one as they are.
WITH ordered AS (
  SELECT *, struct(cause, level, dimension, unknown_reason, cap) AS held,
    lag(struct(cause, level, dimension, unknown_reason, cap))
      OVER (PARTITION BY broker, epoch, topic, subscription, CAST(noticed_at AS DATE) ORDER BY seq) AS before
  FROM cause_transitions
)
SELECT broker, epoch, topic, subscription, count(*) AS transitions
FROM ordered
WHERE held = before OR since > noticed_at OR (cause IS NULL AND backlog > 0)
GROUP BY broker, epoch, topic, subscription
