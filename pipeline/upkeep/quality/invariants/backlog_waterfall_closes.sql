-- Every backlog is explained to the entry: opened + published − acknowledged − evicted − expired + sought = msg_backlog.
-- A violating row is a subscription at a check: the remainder is not unexplained_entries,
-- or there is one though no event of its broker was lost.
SELECT broker, epoch, topic, subscription, check_time, check_number, msg_backlog, remainder, unexplained_entries, complete
FROM (
  SELECT *, msg_backlog - (opened_backlog + published_entries - acknowledged_entries - evicted_entries - expired_entries + sought_entries)
    AS remainder
  FROM subscription_backlog
)
WHERE remainder <> unexplained_entries OR (complete AND remainder <> 0)
