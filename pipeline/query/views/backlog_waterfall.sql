-- Why did each subscription's backlog grow or shrink, entry by entry, between its checks?
-- One row per subscription and check: the changes since the previous check, or since its cursor was opened.
-- A cursor that was opened again (another opened_at) starts a new chain. Rows of one chain add up: sums between any two checks are exact.
--   backlog_before + published − acknowledged − expired − evicted + sought + remainder = backlog_after
--   remainder        0, or something is wrong
--   change           backlog_after less backlog_before
--   dispatched       entries delivered meanwhile, redeliveries included: no part of the sum
--   step             1, 2, 3 … in the chain; step 1 begins where the cursor was opened
WITH counted AS (
  SELECT *,
    lag(struct(check_time, msg_backlog, published_entries, acknowledged_entries, expired_entries, evicted_entries, sought_entries,
      dispatched_entries)) OVER chain AS before,
    row_number() OVER chain AS step
  FROM subscription_backlog
  WINDOW chain AS (PARTITION BY broker, epoch, topic, subscription, opened_at ORDER BY check_number)
),
steps AS (
  SELECT *,
    coalesce(before.msg_backlog, opened_backlog) AS backlog_before,
    published_entries - coalesce(before.published_entries, 0) AS published,
    acknowledged_entries - coalesce(before.acknowledged_entries, 0) AS acknowledged,
    expired_entries - coalesce(before.expired_entries, 0) AS expired,
    evicted_entries - coalesce(before.evicted_entries, 0) AS evicted,
    sought_entries - coalesce(before.sought_entries, 0) AS sought,
    dispatched_entries - coalesce(before.dispatched_entries, 0) AS dispatched
  FROM counted
)
SELECT
  broker, epoch, topic, subscription, opened_at, step,
  coalesce(before.check_time, opened_at) AS from_time,
  check_time AS to_time,
  check_number,
  backlog_before, published, acknowledged, expired, evicted, sought,
  msg_backlog - (backlog_before + published - acknowledged - expired - evicted + sought) AS remainder,
  msg_backlog AS backlog_after,
  msg_backlog - backlog_before AS change,
  dispatched, complete
FROM steps
