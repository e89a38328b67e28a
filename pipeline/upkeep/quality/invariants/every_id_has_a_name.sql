-- Every id in dispatch_events has its text in names, of the right level: without it nobody knows whose the figures of its events are.
-- A violating row is an id.
WITH used AS (
  SELECT explode(array(
    struct(broker_id AS id, 'broker' AS level), struct(topic_id AS id, 'topic' AS level), struct(sub_id AS id, 'subscription' AS level)
  )) AS name
  FROM (SELECT DISTINCT broker_id, topic_id, sub_id FROM dispatch_events)
)
SELECT DISTINCT name.id, name.level
FROM used LEFT ANTI JOIN names ON names.id = name.id AND names.level = name.level
WHERE name.id <> 0 OR name.level = 'broker'
