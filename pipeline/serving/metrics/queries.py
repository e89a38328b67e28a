"""The queries behind `/metrics`, each with a row per set of labels.

Gauges are of the newest quota check of each topic, after what the broker did at it: the rows of a check are of the moment before. Entries
are of the end of the newest finished window where that is later; bytes are known at checks alone. Null is what nobody knows: rows that are
not complete, and an action whose outcome the log does not show yet.
"""

#: Of a row `n` of topics: the log has nothing of its life (docs/reference/event-log.md).
IS_SYSTEM = "(n.tenant = 'pulsar' OR substring(n.local_name, 1, 2) = '__')"

#: Of each topic now, with what followed from its check. An action that goes on has no row in quota_evictions yet: nothing is `settled`.
CHECKED = f"""
reached AS (
  SELECT broker, epoch, topic, check_number,
    bool_and(planned_ledger <=> reached_ledger AND planned_entry <=> reached_entry) AS as_planned
  FROM quota_eviction_moves
  GROUP BY broker, epoch, topic, check_number
),
decided AS (
  SELECT e.broker, e.epoch, e.topic, e.check_number,
    sum(e.producers_closed) AS producers_closed,
    CASE
      WHEN bool_and(e.action = 'disconnect_producers') THEN max(e.backlog_size_before)
      WHEN bool_and(e.action = 'evict' AND coalesce(r.as_planned, true)) THEN max(e.backlog_size_planned)
    END AS backlog_size_left
  FROM quota_evictions e
  LEFT JOIN reached r ON r.broker = e.broker AND r.epoch = e.epoch AND r.topic = e.topic AND r.check_number = e.check_number
  GROUP BY e.broker, e.epoch, e.topic, e.check_number
),
checked AS (
  SELECT t.*, w.as_of AS log_until, w.window_start,
    d.check_number IS NOT NULL AS acted, t.decision = 'none' OR d.check_number IS NOT NULL AS settled,
    coalesce(d.producers_closed, 0) AS producers_closed, d.backlog_size_left, {IS_SYSTEM} AS is_system
  FROM topic_backlog_now t
  JOIN newest_windows w ON w.broker = t.broker AND w.epoch = t.epoch
  JOIN topics n ON n.topic = t.topic
  LEFT JOIN decided d ON d.broker = t.broker AND d.epoch = t.epoch AND d.topic = t.topic AND d.check_number = t.check_number
  WHERE t.namespace IS NOT NULL
)"""

#: Of each subscription of them; replicators and deduplication have cursors, and are none.
BEHIND = """
moved AS (
  SELECT broker, epoch, topic, subscription, check_number, sum(entries_evicted) AS evicted
  FROM quota_eviction_moves
  GROUP BY broker, epoch, topic, subscription, check_number
),
ended AS (
  SELECT x.broker, x.epoch, x.topic, x.subscription, max(x.backlog_end) AS backlog_end, bool_and(x.complete) AS complete
  FROM subscription_causes x
  JOIN newest_windows w
    ON w.broker = x.broker AND w.epoch = x.epoch AND w.clock_segment = x.clock_segment AND w.window_start = x.window_start
  GROUP BY x.broker, x.epoch, x.topic, x.subscription
),
behind AS (
  SELECT c.cluster, c.namespace, c.topic, s.subscription, c.complete AND s.complete AS complete,
    CASE
      WHEN NOT (c.complete AND s.complete) THEN NULL
      WHEN e.topic IS NOT NULL AND c.log_until > c.as_of THEN CASE WHEN e.complete THEN e.backlog_end END
      -- A backlog in the window would have a row.
      WHEN c.window_start > c.as_of AND s.cursor_kind IN ('subscription', 'reader') THEN 0
      WHEN c.settled THEN s.msg_backlog - coalesce(m.evicted, 0)
    END AS back_log
  FROM subscription_backlog s
  JOIN checked c
    ON s.broker = c.broker AND s.epoch = c.epoch AND s.topic = c.topic AND s.check_number = c.check_number
  LEFT JOIN moved m
    ON m.broker = s.broker AND m.epoch = s.epoch AND m.topic = s.topic AND m.subscription = s.subscription
      AND m.check_number = s.check_number
  LEFT JOIN ended e ON e.broker = s.broker AND e.epoch = s.epoch AND e.topic = s.topic AND e.subscription = s.subscription
  WHERE s.cursor_kind IS NULL OR s.cursor_kind NOT IN ('replicator', 'deduplication')
)"""

#: What each topic's lines need.
TOPIC_VALUES = """
added AS (
  SELECT cluster, topic, count(*) AS subscriptions,
    CASE WHEN count(*) = count(back_log) THEN sum(back_log) END AS msg_backlog
  FROM behind
  GROUP BY cluster, topic
),
told AS (
  SELECT c.cluster, c.namespace, c.topic, c.is_system, c.complete,
    CASE WHEN a.topic IS NULL THEN 0 ELSE a.subscriptions END AS subscriptions,
    c.producers - c.producers_closed AS producers,
    CASE WHEN a.topic IS NULL THEN 0 ELSE a.msg_backlog END AS msg_backlog,
    CASE WHEN c.acted THEN c.backlog_size_left WHEN c.settled THEN c.backlog_size END AS backlog_size,
    c.limit_size, c.limit_s,
    -- The broker counts on from what it found at the check; towards zero, as Java divides.
    CASE WHEN NOT c.believed_age_is_certain THEN NULL
      WHEN c.oldest_believed_time IS NULL THEN c.age_s
      ELSE (unix_millis(greatest(c.log_until, c.as_of)) - unix_millis(c.oldest_believed_time)) div 1000
    END AS age_s,
    c.storage_backlog_quota_exceeded_evictions_size AS evictions_size,
    c.storage_backlog_quota_exceeded_evictions_time AS evictions_time
  FROM checked c
  LEFT JOIN added a ON a.cluster <=> c.cluster AND a.topic = c.topic
)"""

TOPICS = f"""WITH {CHECKED}, {BEHIND}, {TOPIC_VALUES}
SELECT * FROM told WHERE complete ORDER BY cluster, namespace, topic"""

COUNTERS = tuple(
    f"dispatch_throttled_{dimension}_events_by_{level}_limit_since_open"
    for dimension in ("msg", "bytes")
    for level in ("subscription", "topic", "broker")
)
#: Without a dispatcher, or before its first window is over, nothing was counted.
COUNTED = ",\n  ".join(
    f"CASE WHEN d.complete THEN d.{counter} WHEN d.topic IS NULL AND b.complete THEN 0 END AS {counter}" for counter in COUNTERS
)
#: A subscription that no check has seen yet has its counters alone.
SUBSCRIPTIONS = f"""WITH {CHECKED}, {BEHIND}
SELECT
  coalesce(b.cluster, d.cluster) AS cluster, coalesce(b.namespace, d.namespace) AS namespace,
  coalesce(b.topic, d.topic) AS topic, coalesce(b.subscription, d.subscription) AS subscription,
  b.back_log,
  -- Only dispatchers of shared types hold entries for later delivery, and no table has how many.
  CASE WHEN b.back_log = 0 OR d.topic IS NULL OR d.sub_type IN ('Exclusive', 'Failover') THEN b.back_log END AS back_log_no_delayed,
  {COUNTED}
FROM behind b
FULL JOIN subscription_throttle_now d ON d.cluster <=> b.cluster AND d.topic = b.topic AND d.subscription = b.subscription
WHERE coalesce(b.complete, d.complete) AND coalesce(b.namespace, d.namespace) IS NOT NULL
ORDER BY cluster, namespace, topic, subscription"""

#: A sum is known where each of its topics is; the life of system topics is not in the log, they have no part in it.
_SUMMED = ",\n  ".join(
    f"CASE WHEN count(*) = count(CASE WHEN complete THEN {column} END) THEN sum({column}) END AS {column}"
    for column in ("subscriptions", "producers", "msg_backlog", "backlog_size", "evictions_size", "evictions_time")
)
NAMESPACES = f"""WITH {CHECKED}, {BEHIND}, {TOPIC_VALUES}
SELECT cluster, namespace,
  {_SUMMED}
FROM told
WHERE NOT is_system
GROUP BY cluster, namespace
ORDER BY cluster, namespace"""
