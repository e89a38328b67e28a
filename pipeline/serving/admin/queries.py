"""The queries behind `/admin/v2`, in Spark's dialect: the gauges of `/metrics`, with what the admin API has besides.

Null is what nobody knows. Each ends with the rows `answered`; whoever asks chooses among them (asked_rows.py).
"""

from pipeline.serving.metrics.queries import BEHIND, CHECKED, COUNTED, IS_SYSTEM, TOPIC_VALUES

#: A row per topic that a broker has now, so far as checks tell.
TOPICS = f"""WITH {CHECKED}, {BEHIND}, {TOPIC_VALUES},
answered AS (
  SELECT c.cluster, c.topic, c.broker, c.partitioned_topic, c.partition,
    CASE WHEN c.complete THEN v.limit_size END AS limit_size,
    CASE WHEN c.complete THEN v.limit_s END AS limit_s,
    CASE WHEN c.complete THEN v.backlog_size END AS backlog_size,
    CASE WHEN c.complete THEN v.age_s END AS age_s,
    CASE WHEN c.complete AND v.age_s >= 0 THEN c.oldest_subscription END AS oldest_subscription,
    CASE WHEN c.complete THEN v.producers END AS producers
  FROM checked c
  JOIN told v ON v.cluster <=> c.cluster AND v.topic = c.topic
)"""

#: A row per subscription of them. What is of the check counts where the cursor did not move at it.
SUBSCRIPTIONS = f"""WITH {CHECKED}, {BEHIND},
seen AS (
  SELECT b.cluster, b.topic, b.subscription, b.back_log, b.complete, s.durable, c.log_until >= c.as_of AS has_window,
    CASE WHEN b.complete AND c.settled AND m.topic IS NULL AND (NOT c.acted OR c.backlog_size_left IS NOT NULL)
      THEN struct(s.backlog_size, s.unacked_messages, s.individually_deleted, s.msg_backlog, s.oldest_publish_time, s.exact_to_ms)
    END AS found
  FROM behind b
  JOIN checked c ON c.cluster <=> b.cluster AND c.topic = b.topic
  JOIN subscription_backlog s
    ON s.broker = c.broker AND s.epoch = c.epoch AND s.topic = c.topic AND s.check_number = c.check_number
      AND s.subscription = b.subscription
  LEFT JOIN moved m
    ON m.broker = c.broker AND m.epoch = c.epoch AND m.topic = c.topic AND m.check_number = c.check_number
      AND m.subscription = b.subscription
),
open_dispatchers AS (
  SELECT d.* FROM subscription_throttle_now d
  JOIN newest_windows w ON w.broker = d.broker AND w.epoch = d.epoch
),
answered AS (
  SELECT coalesce(b.cluster, d.cluster) AS cluster, coalesce(b.topic, d.topic) AS topic,
    coalesce(b.subscription, d.subscription) AS subscription,
    coalesce(n.partition, -1) AS partition, coalesce(n.partitioned_topic, n.topic) AS partitioned_topic,
    b.back_log,
    -- Only dispatchers of shared types hold entries for later delivery, and no table has how many.
    CASE WHEN b.back_log = 0 OR d.topic IS NULL OR d.sub_type IN ('Exclusive', 'Failover') THEN b.back_log END AS back_log_no_delayed,
    b.durable,
    -- Bytes and times are of the check, unless the entries tell otherwise since.
    CASE WHEN b.back_log = 0 THEN 0 WHEN b.found.msg_backlog > 0 THEN b.found.backlog_size END AS backlog_size,
    b.found.unacked_messages AS unacked_messages,
    CASE WHEN b.found.individually_deleted = 0 THEN 0 END AS deleted_ranges,
    -- The broker looks at the first entry behind the mark-delete position, whether it is acknowledged or not.
    CASE WHEN b.back_log = 0 THEN -1
      WHEN b.found.msg_backlog > 0 AND b.found.individually_deleted = 0 AND b.found.exact_to_ms = 0
        THEN unix_millis(b.found.oldest_publish_time)
    END AS oldest_ms,
    -- A dispatcher stays when its consumers have left. A subscription that never had one has no type.
    CASE WHEN d.topic IS NOT NULL THEN d.sub_type WHEN b.complete AND b.has_window THEN 'None' END AS sub_type,
    {COUNTED}
  FROM seen b
  FULL JOIN open_dispatchers d ON d.cluster <=> b.cluster AND d.topic = b.topic AND d.subscription = b.subscription
  JOIN topics n ON n.topic = coalesce(b.topic, d.topic)
)"""

#: Topics that a broker has now: checked, or served.
THERE = f"""WITH answered AS (
  SELECT n.tenant, n.namespace, n.topic, n.partitioned_topic, n.partition, {IS_SYSTEM} AS is_system
  FROM (
    SELECT t.topic FROM topic_backlog_now t JOIN newest_windows w ON w.broker = t.broker AND w.epoch = t.epoch
    UNION
    SELECT d.topic FROM subscription_throttle_now d JOIN newest_windows w ON w.broker = d.broker AND w.epoch = d.epoch
  ) found
  JOIN topics n ON n.topic = found.topic
  WHERE n.namespace IS NOT NULL AND n.domain = 'persistent'
)"""

#: Each limit as each place sets it now, and as the broker applied it.
LIMITS = """WITH answered AS (
  SELECT s.topic, s.subscription, s.limit_kind, s.set_by, s.in_force, s.msg_rate, s.byte_rate, s.period_s, s.relative, s.quota_limit,
    s.quota_policy, s.applied_msg_rate, s.applied_byte_rate, s.applied_period_s, s.applied_relative, s.applied_limit, s.applied_policy,
    s.policy_disagreement, n.namespace
  FROM policy_spans s
  JOIN newest_windows w ON w.broker = s.broker AND w.epoch = s.epoch
  JOIN topics n ON n.topic = s.topic
  WHERE s.until IS NULL AND s.complete
)"""

#: From when to when the tables have anything.
REACH = "SELECT min(w.window_end) AS first_end, max(w.log_until) AS reaches FROM broker_windows w"

#: Each broker's cluster and version; null where its start is not in the log.
BROKERS = "WITH answered AS (SELECT b.broker, b.cluster, b.version FROM brokers b)"
