-- At every check a topic has as many rows in subscription_backlog as it has open cursors, and no subscription is checked without its topic.
-- A violating row is a topic at a check.
WITH found AS (
  SELECT broker, epoch, topic, check_number, count(*) AS rows FROM subscription_backlog GROUP BY broker, epoch, topic, check_number
)
SELECT broker, epoch, topic, check_number, subscriptions, coalesce(rows, 0) AS rows
FROM topic_backlog FULL JOIN found USING (broker, epoch, topic, check_number)
WHERE subscriptions IS NULL OR subscriptions <> coalesce(rows, 0)
