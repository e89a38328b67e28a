-- Is each subscription catching up, how fast, and when will it have?
-- One row per subscription and check: rates since its check before, or since its cursor was opened; null where no time passed.
--   over_s                       seconds that the rates are taken over
--   publish_rate                 entries per second added to the topic
--   dispatch_rate                entries per second delivered to consumers, redeliveries included
--   ack_rate                     entries per second that consumers acknowledged
--   removed_rate                 entries per second that expired or were evicted
--   sought_entries               entries that a seek brought back in that time, less those that it passed over
--   growth_rate                  entries per second by which the backlog grew; negative: it shrinks
--   caught_up_in_s               seconds until the backlog is empty at this rate, 0 without one; null: it does not shrink
--   newest                       whether it is the subscription's latest check
WITH timed AS (
  SELECT *, nullif((unix_micros(to_time) - unix_micros(from_time)) / 1e6, 0) AS over_s
  FROM backlog_waterfall
)
SELECT
  broker, epoch, topic, subscription, opened_at, from_time, to_time, check_number, over_s,
  published / over_s AS publish_rate,
  dispatched / over_s AS dispatch_rate,
  acknowledged / over_s AS ack_rate,
  (expired + evicted) / over_s AS removed_rate,
  sought AS sought_entries,
  change / over_s AS growth_rate,
  backlog_after,
  CASE WHEN backlog_after = 0 THEN 0 WHEN change < 0 THEN backlog_after * over_s / -change END AS caught_up_in_s,
  check_number = max(check_number) OVER (PARTITION BY broker, epoch, topic, subscription) AS newest,
  complete
FROM timed
