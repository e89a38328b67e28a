-- Which quota checks does a forecast of now count?
-- One row per topic and check: of the ten minutes before the topic's newest check, and the one before these, where the first step begins.
-- Steps of the last five minutes count, and whether one of them turned, by the five minutes before it.
-- Join it to topic_backlog or subscription_backlog by broker, epoch, topic and check_number. Left out are epochs of a broker before its
-- newest.
--   is_newest   whether it is the topic's newest check
WITH newest AS (
  SELECT t.broker, t.epoch, t.topic, max(t.check_number) AS check_number, max_by(unix_micros(t.check_time), t.check_number) AS check_us
  FROM topic_backlog t
  JOIN check_intervals i ON i.broker = t.broker AND i.epoch = t.epoch AND i.newest
  GROUP BY t.broker, t.epoch, t.topic
),
last_minutes AS (
  SELECT n.broker, n.epoch, n.topic, min(t.check_number) AS first_number
  FROM newest n
  JOIN topic_backlog t ON t.broker = n.broker AND t.epoch = n.epoch AND t.topic = n.topic
  WHERE unix_micros(t.check_time) >= n.check_us - 600000000
  GROUP BY n.broker, n.epoch, n.topic
),
counted AS (
  SELECT w.broker, w.epoch, w.topic, coalesce(max(t.check_number), w.first_number) AS first_number
  FROM last_minutes w
  LEFT JOIN topic_backlog t ON t.broker = w.broker AND t.epoch = w.epoch AND t.topic = w.topic AND t.check_number < w.first_number
  GROUP BY w.broker, w.epoch, w.topic, w.first_number
)
SELECT t.broker, t.epoch, t.topic, t.check_number, t.check_time, t.check_number = n.check_number AS is_newest
FROM topic_backlog t
JOIN counted c ON c.broker = t.broker AND c.epoch = t.epoch AND c.topic = t.topic AND t.check_number >= c.first_number
JOIN newest n ON n.broker = t.broker AND n.epoch = t.epoch AND n.topic = t.topic
