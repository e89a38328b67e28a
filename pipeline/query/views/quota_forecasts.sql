-- When will each backlog quota be exceeded, at which check, and which subscriptions lose messages then?
-- One row per topic, check and quota type with a limit: quota_breaches, where the columns are explained, with who loses.
--   loses_first      subscription that an eviction takes from first: the one the broker names oldest, else the largest
--   others_losing    other subscriptions that it takes from too, as things stand at the check (quota_losers explains how that is known)
WITH losing AS (
  SELECT broker, epoch, topic, check_number, quota_type,
    max_by(subscription, struct(named, backlog_size, subscription)) AS loses_first,
    array_sort(collect_list(subscription)) AS subscriptions
  FROM quota_losers
  GROUP BY broker, epoch, topic, check_number, quota_type
)
SELECT b.*, l.loses_first, coalesce(array_sort(array_except(l.subscriptions, array(l.loses_first))), array()) AS others_losing
FROM quota_breaches b
LEFT JOIN losing l
  ON l.broker = b.broker AND l.epoch = b.epoch AND l.topic = b.topic AND l.check_number = b.check_number AND l.quota_type = b.quota_type
