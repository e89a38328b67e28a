-- When will each subscription that is behind be current, at the pace of the last minutes, and how soon do its limits allow that?
-- One row per subscription and check. Only data of that check and before is used.
--   waiting          entries that are not delivered; is_current: none waits, or no more of them than one second of publishing brings and
--                    than were delivered since the check before. Then current_* are the check itself
--   rate_mean        entries per second by which the waiting ones became fewer over the steps between checks of the last 5 minutes, from
--                    the last step on at which that turned or doubled (negative: more); rate_least, rate_most: the band that has the rate
--                    until it is current in eight cases of ten (docs/design/causes.md), the same as rate_mean until there are two steps.
--                    A step in which an eviction, an expiry or a seek moved something is no pace, nor one in which a quota shut producers
--                    out: less came than comes without that
--   steps            steps between checks that the rates are of
--   publish_rate     entries per second that came in the last 5 minutes, but for steps in which a quota shut producers out; null: not known
--   shut_out         whether a quota shut producers out in a step of the last 5 minutes, or does by the check
--   current_at       first check at which it is current at the mean rate; current_from, current_to: at rate_most and rate_least;
--                    null: never at that rate, or not within 30 days. Rounded up to checks by the broker's interval
--   current_in_s     from the check to current_at
--   most_msgs_per_s, most_bytes_per_s   the least that the limits in force at the check leave it (its own, the topic's, the broker's);
--                    null: no limit. Of the topic's and the broker's, which other subscriptions draw on, what these left in the last
--                    five minutes, and at least its own share of the total. most_entries_per_s: both, by what its entries are charged
--                    (limiter_units)
--   soonest_at       when it is current if it gets all that these limits allow, and as much is published as in the last minutes;
--                    null: no limit, or more is published than the limits allow (allowed: no), or not within 30 days
--   allowed          whether the limits allow that it is ever current: yes, no; null: no limit, or nobody knows how much comes
--   outpaced         whether consumers acknowledge, but fewer entries than come, in the steps of the last half minute (the last one at
--                    least): more than a tenth less, and more than chance takes; not if it is next to nothing. Null: no step yet,
--                    or a quota shut producers out in them
WITH stepped AS (
  SELECT b.broker, b.epoch, b.topic, b.subscription, b.opened_at, b.check_time, b.check_number, b.msg_backlog, b.backlog_size,
    b.backlog_messages,
    b.dispatched_entries, b.dispatched_msgs, b.complete,
    b.dispatched_entries - lag(b.dispatched_entries) OVER chain AS delivered,
    unix_micros(b.check_time) AS check_us,
    b.msg_backlog - coalesce(b.in_flight_entries, b.unacked_entries) AS waiting,
    unix_micros(b.check_time) - lag(unix_micros(b.check_time)) OVER chain AS step_us,
    b.published_entries - lag(b.published_entries) OVER chain AS published,
    -- Of the first check: since the cursor was opened.
    b.published_entries - coalesce(lag(b.published_entries) OVER chain, 0) AS came,
    b.acknowledged_entries - coalesce(lag(b.acknowledged_entries) OVER chain, 0) AS acknowledged,
    lag(b.msg_backlog - coalesce(b.in_flight_entries, b.unacked_entries)) OVER chain
      - (b.msg_backlog - coalesce(b.in_flight_entries, b.unacked_entries)) AS fewer,
    lag(b.evicted_entries + b.expired_entries) OVER chain = b.evicted_entries + b.expired_entries
      AND lag(b.sought_entries) OVER chain = b.sought_entries AS is_as_consumed,
    t.shuts, coalesce(lag(t.shuts) OVER chain, false) AS was_shut
  FROM subscription_backlog b
  LEFT JOIN (
    SELECT c.broker, c.epoch, c.topic, c.check_number, SHUTS_OUT(c) AS shuts FROM topic_backlog c
  ) t ON t.broker = b.broker AND t.epoch = b.epoch AND t.topic = b.topic AND t.check_number = b.check_number
  WINDOW chain AS (PARTITION BY b.broker, b.epoch, b.topic, b.subscription, b.opened_at ORDER BY b.check_number)
),
-- As of the growth of a quota (quota_breaches): a pace that turned, or doubled, by more than chance tells nothing of the time before.
turns AS (
  SELECT *, CASE WHEN RATE_TURNED(step_rate) THEN 1 ELSE 0 END AS turned
  FROM (
    SELECT *, avg(step_rate) OVER before AS mean_before, stddev_samp(step_rate) OVER before AS deviation_before
    FROM (SELECT *, CASE WHEN step_us > 0 AND is_as_consumed AND NOT was_shut THEN fewer * 1e6 / step_us END AS step_rate FROM stepped)
    WINDOW before AS (
      PARTITION BY broker, epoch, topic, subscription, opened_at ORDER BY check_us RANGE BETWEEN 300000000 PRECEDING AND 1 PRECEDING
    )
  )
),
rates AS (
  SELECT *,
    count(step_rate) OVER of_course AS steps,
    var_samp(step_rate) OVER of_course AS variance,
    sum(CASE WHEN step_rate IS NOT NULL THEN step_us END) OVER of_course / 1e6 AS stepped_s,
    sum(CAST(CASE WHEN step_rate IS NOT NULL THEN fewer END AS DOUBLE)) OVER of_course * 1e6
      / sum(CASE WHEN step_rate IS NOT NULL THEN step_us END) OVER of_course AS rate_mean,
    sum(CAST(CASE WHEN NOT was_shut THEN published END AS DOUBLE)) OVER recent * 1e6
      / nullif(sum(CASE WHEN NOT was_shut THEN step_us END) OVER recent, 0) AS publish_rate,
    coalesce(bool_or(was_shut) OVER recent, false) OR coalesce(shuts, false) AS shut_out,
    sum(CAST(delivered AS DOUBLE)) OVER recent * 1e6 / nullif(sum(step_us) OVER recent, 0) AS delivery_rate,
    CASE WHEN NOT bool_or(was_shut) OVER last_steps THEN sum(came) OVER last_steps END AS came_of_late,
    sum(acknowledged) OVER last_steps AS acknowledged_of_late
  FROM (SELECT *, sum(turned) OVER (PARTITION BY broker, epoch, topic, subscription, opened_at ORDER BY check_number) AS course FROM turns)
  WINDOW of_course AS (
    PARTITION BY broker, epoch, topic, subscription, opened_at, course ORDER BY check_us RANGE BETWEEN 300000000 PRECEDING AND CURRENT ROW
  ), recent AS (
    PARTITION BY broker, epoch, topic, subscription, opened_at ORDER BY check_us RANGE BETWEEN 300000000 PRECEDING AND CURRENT ROW
  ), last_steps AS (
    PARTITION BY broker, epoch, topic, subscription, opened_at ORDER BY check_us RANGE BETWEEN 29000000 PRECEDING AND CURRENT ROW
  )
),
drawing AS (
  -- A round of checks ends where half of the interval passes without a check.
  SELECT *,
    delivery_rate * msgs_per_entry AS msgs_rate,
    delivery_rate * bytes_per_entry AS bytes_rate,
    sum(CASE WHEN from_last_us > interval_s * 500000 THEN 1 ELSE 0 END) OVER (PARTITION BY broker, epoch ORDER BY check_us) AS round
  FROM (
    SELECT r.*, i.interval_s,
      CASE WHEN u.counts_entries THEN 1 ELSE coalesce(try_divide(r.dispatched_msgs, r.dispatched_entries), 1) END AS msgs_per_entry,
      CASE WHEN u.counts_entries THEN 1 ELSE try_divide(r.backlog_messages, r.msg_backlog) END AS msgs_per_left,
      try_divide(r.backlog_size, r.msg_backlog) AS bytes_per_entry,
      r.check_us - lag(r.check_us) OVER (PARTITION BY r.broker, r.epoch ORDER BY r.check_us) AS from_last_us
    FROM rates r
    LEFT JOIN limiter_units u ON u.broker = r.broker AND u.epoch = r.epoch
    LEFT JOIN check_intervals i ON i.broker = r.broker AND i.epoch = r.epoch
  )
),
drawn AS (
  -- What all get that draw on a limiter of the topic, and on one of the broker.
  SELECT *,
    sum(msgs_rate) OVER of_topic AS topic_msgs_rate, sum(bytes_rate) OVER of_topic AS topic_bytes_rate,
    sum(msgs_rate) OVER of_broker AS broker_msgs_rate, sum(bytes_rate) OVER of_broker AS broker_bytes_rate
  FROM drawing
  -- In one order, for sums of fractions depend on it.
  WINDOW of_topic AS (
    PARTITION BY broker, epoch, topic, check_number ORDER BY subscription, opened_at
    ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
  ), of_broker AS (
    PARTITION BY broker, epoch, round ORDER BY topic, subscription, opened_at, check_number
    ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
  )
),
set_limits AS (
  SELECT broker, epoch, topic, subscription, since, until, limit_kind,
    CASE WHEN msg_rate > 0 THEN (CAST(msg_rate AS DOUBLE) + coalesce(publish_msgs, 0)) / period_s END AS msgs_per_s,
    CASE WHEN byte_rate > 0 THEN (CAST(byte_rate AS DOUBLE) + coalesce(publish_bytes, 0)) / period_s END AS bytes_per_s
  FROM (
    SELECT broker, epoch, topic, subscription, since, until, limit_kind,
      publish_msgs_per_s AS publish_msgs, publish_bytes_per_s AS publish_bytes,
      coalesce(applied_msg_rate, msg_rate) AS msg_rate, coalesce(applied_byte_rate, byte_rate) AS byte_rate,
      greatest(1, coalesce(applied_period_s, period_s, 1)) AS period_s
    FROM policy_spans
    WHERE in_force AND limit_kind IN ('broker_dispatch_rate', 'topic_dispatch_rate', 'subscription_dispatch_rate')
  )
),
passed AS (
  -- Each limit that its reads pass. all_…: what all get of a limit that is shared; null: it is not, or nobody knows.
  -- A join for each level, on equal names: one for all of them would compare every subscription with every limit.
  SELECT d.broker, d.epoch, d.topic, d.subscription, d.opened_at, d.check_number, d.msgs_rate, d.bytes_rate, l.msgs_per_s, l.bytes_per_s,
    d.broker_msgs_rate AS all_msgs, d.broker_bytes_rate AS all_bytes
  FROM drawn d
  JOIN set_limits l ON l.broker = d.broker AND l.epoch = d.epoch
    AND l.since <= d.check_time AND (l.until IS NULL OR l.until > d.check_time)
  WHERE l.limit_kind = 'broker_dispatch_rate'
  UNION ALL
  SELECT d.broker, d.epoch, d.topic, d.subscription, d.opened_at, d.check_number, d.msgs_rate, d.bytes_rate, l.msgs_per_s, l.bytes_per_s,
    d.topic_msgs_rate AS all_msgs, d.topic_bytes_rate AS all_bytes
  FROM drawn d
  JOIN set_limits l ON l.broker = d.broker AND l.epoch = d.epoch AND l.topic = d.topic
    AND l.since <= d.check_time AND (l.until IS NULL OR l.until > d.check_time)
  WHERE l.limit_kind = 'topic_dispatch_rate'
  UNION ALL
  SELECT d.broker, d.epoch, d.topic, d.subscription, d.opened_at, d.check_number, d.msgs_rate, d.bytes_rate, l.msgs_per_s, l.bytes_per_s,
    CAST(NULL AS DOUBLE) AS all_msgs, CAST(NULL AS DOUBLE) AS all_bytes
  FROM drawn d
  JOIN set_limits l ON l.broker = d.broker AND l.epoch = d.epoch AND l.topic = d.topic AND l.subscription = d.subscription
    AND l.since <= d.check_time AND (l.until IS NULL OR l.until > d.check_time)
  WHERE l.limit_kind = 'subscription_dispatch_rate'
),
limits AS (
  SELECT broker, epoch, topic, subscription, opened_at, check_number,
    min(coalesce(greatest(msgs_per_s - (all_msgs - msgs_rate), try_divide(msgs_per_s * msgs_rate, all_msgs)), msgs_per_s))
      AS most_msgs_per_s,
    min(coalesce(greatest(bytes_per_s - (all_bytes - bytes_rate), try_divide(bytes_per_s * bytes_rate, all_bytes)), bytes_per_s))
      AS most_bytes_per_s
  FROM passed
  GROUP BY broker, epoch, topic, subscription, opened_at, check_number
),
allowed AS (
  SELECT r.*, l.most_msgs_per_s, l.most_bytes_per_s,
    r.waiting = 0 OR r.waiting <= coalesce(r.publish_rate, 0) AND r.waiting <= coalesce(r.delivered, 0) AS is_current,
    -- What is left may be of other batches than what was delivered.
    least(try_divide(l.most_msgs_per_s, coalesce(r.msgs_per_left, r.msgs_per_entry)), try_divide(l.most_bytes_per_s, r.bytes_per_entry))
      AS most_entries_per_s
  FROM drawn r
  LEFT JOIN limits l ON l.broker = r.broker AND l.epoch = r.epoch AND l.topic = r.topic AND l.subscription = r.subscription
    AND l.opened_at = r.opened_at AND l.check_number = r.check_number
),
banded AS (
  -- Half of it in an hour: the rate is what is left of two, of the consumers and of the producers.
  SELECT *, RATE_SPREAD(waiting, 0.5) AS spread FROM allowed
),
bounded AS (
  SELECT *, rate_mean - spread AS rate_least, rate_mean + spread AS rate_most FROM banded
),
foreseen AS (
  SELECT *,
    most_entries_per_s - publish_rate AS room_per_s,
    transform(array(rate_mean, rate_most, rate_least), rate -> CASE
      WHEN is_current THEN check_us
      WHEN rate > 0 AND waiting / rate < 2592000D
        THEN check_us + CASE WHEN interval_s IS NULL THEN CAST(ceil(waiting / rate * 1e6) AS BIGINT)
          ELSE greatest(1, CAST(ceil(waiting / rate / interval_s) AS BIGINT)) * interval_s * 1000000 END
    END) AS current_us
  FROM bounded
)
SELECT
  broker, epoch, topic, subscription, opened_at, check_time, check_number, msg_backlog, waiting, is_current,
  publish_rate, rate_mean, rate_least, rate_most, CAST(steps AS BIGINT) AS steps, interval_s,
  timestamp_micros(current_us[0]) AS current_at,
  timestamp_micros(current_us[1]) AS current_from,
  timestamp_micros(current_us[2]) AS current_to,
  (current_us[0] - check_us) / 1e6 AS current_in_s,
  most_msgs_per_s, most_bytes_per_s, most_entries_per_s,
  CASE WHEN most_entries_per_s IS NULL THEN NULL WHEN is_current OR room_per_s > 0 THEN 'yes' WHEN room_per_s IS NOT NULL THEN 'no' END
    AS allowed,
  CASE WHEN is_current THEN check_time WHEN room_per_s > 0 AND waiting / room_per_s < 2592000D
    THEN timestamp_micros(check_us + CAST(ceil(waiting / room_per_s * 1e6) AS BIGINT)) END AS soonest_at,
  OUTPACED(came_of_late, acknowledged_of_late) AS outpaced,
  shut_out,
  complete
FROM foreseen
