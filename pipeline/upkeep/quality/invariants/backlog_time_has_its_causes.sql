-- Every nanosecond in which a subscription has a backlog is charged to exactly one cause: charges add up to the time of the backlog.
-- A violating row is a subscription's window: another sum, two times of its backlog, or not one main cause.
SELECT broker, epoch, topic, subscription, window_start, clock_segment,
  sum(ns) AS charged_ns, min(backlog_ns) AS backlog_ns, max(backlog_ns) AS largest_backlog_ns,
  sum(CASE WHEN is_main THEN 1 ELSE 0 END) AS main_causes
FROM subscription_causes
GROUP BY broker, epoch, topic, subscription, window_start, clock_segment
HAVING sum(ns) <> min(backlog_ns) OR min(backlog_ns) <> max(backlog_ns) OR sum(CASE WHEN is_main THEN 1 ELSE 0 END) <> 1
