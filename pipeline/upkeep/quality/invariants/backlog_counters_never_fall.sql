-- Counters of the changes of a backlog since its cursor was opened never fall, from check to check.
-- A violating row is a check after which fewer entries were published, acknowledged, evicted, expired or dispatched than before it.
-- After a backfill a lane that runs goes on from its old state: later dates are left out until they are computed anew, too.
WITH repaired AS (
  SELECT broker, max(last_date) AS until FROM backfills
  WHERE table_name = 'subscription_backlog' AND NOT dry_run AND broker IN (SELECT broker FROM backfills WHERE swapped) GROUP BY broker
)
SELECT broker, epoch, topic, subscription, opened_at, check_number, before.check_number AS check_number_before
FROM (
  SELECT *, lag(struct(check_number, check_time, published_entries, acknowledged_entries, evicted_entries, expired_entries, dispatched_entries))
    OVER (PARTITION BY broker, epoch, topic, subscription, opened_at ORDER BY check_number) AS before
  FROM subscription_backlog
)
LEFT JOIN repaired USING (broker)
WHERE NOT coalesce(CAST(check_time AS DATE) > until AND CAST(before.check_time AS DATE) <= until, false) AND (
  published_entries < before.published_entries
  OR acknowledged_entries < before.acknowledged_entries
  OR evicted_entries < before.evicted_entries
  OR expired_entries < before.expired_entries
  OR dispatched_entries < before.dispatched_entries
)
