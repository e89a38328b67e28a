-- How far is the age that the broker believes from the true one, and does it name the right subscription?
-- One row per topic and check.
--   believed_age_ms      check_time less the time that the broker counts from; null: it shows −1 (none), or the log does not show it
--   true_age_ms          of the oldest entry that any subscription has not acknowledged; null: nothing is waiting
--   true_age_is_known    false: an entry that waits was not seen published (true_age_ms is then too low, or null)
--   gap_ms               true less believed: above 0 the broker shows it too young (not precise: counted from a ledger's close),
--                        below 0 too old (acknowledgements not persisted yet, or behind the mark-delete position);
--                        where it shows none, all of the true age
--   believed_oldest      subscription that the broker names; truly_oldest: the one that is, the first by name if several are
--   names_right          nobody has an older entry than the one it names; null: it names none
WITH truth AS (
  SELECT broker, epoch, topic, check_number,
    min_by(subscription, struct(oldest_publish_time, subscription)) FILTER (WHERE oldest_publish_time IS NOT NULL) AS truly_oldest,
    count_if(msg_backlog > 0 AND oldest_publish_time IS NULL) AS unknown
  FROM subscription_backlog
  GROUP BY broker, epoch, topic, check_number
),
ages AS (
  SELECT t.*,
    unix_millis(t.check_time) - unix_millis(t.oldest_believed_time) AS believed_age_ms,
    unix_millis(t.check_time) - unix_millis(t.true_oldest_publish_time) AS true_age_ms,
    truth.truly_oldest,
    coalesce(truth.unknown, 0) = 0 AS true_age_is_known,
    named.oldest_publish_time AS named_publish_time
  FROM topic_backlog t
  LEFT JOIN truth ON truth.broker = t.broker AND truth.epoch = t.epoch AND truth.topic = t.topic AND truth.check_number = t.check_number
  LEFT JOIN subscription_backlog named
    ON named.broker = t.broker AND named.epoch = t.epoch AND named.topic = t.topic AND named.check_number = t.check_number
    AND named.subscription = t.oldest_backlog_message_subscription_name
)
SELECT
  broker, epoch, topic, check_time, check_number,
  believed_age_ms,
  true_age_ms,
  CASE WHEN true_age_is_known AND (believed_age_ms IS NOT NULL OR oldest_backlog_message_age_seconds = -1)
    THEN coalesce(true_age_ms, 0) - coalesce(believed_age_ms, 0) END AS gap_ms,
  true_age_is_known,
  oldest_backlog_message_age_seconds AS believed_age_s,
  oldest_backlog_message_subscription_name AS believed_oldest,
  truly_oldest,
  CASE WHEN oldest_backlog_message_subscription_name IS NOT NULL AND true_age_is_known
    THEN coalesce(named_publish_time = true_oldest_publish_time, false) END AS names_right,
  backlog_quota_limit_time AS limit_s, complete
FROM ages
