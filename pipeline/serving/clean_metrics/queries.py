"""The queries behind `/metrics/clean` that have a topic, each with a row per set of labels, the worst first.

Null is not known: rows that are not complete, and a broker that has stopped. Its subscriptions have a status alone.
"""

from pipeline.query.views.catalog import sql_of
from pipeline.query.views.inlined import with_views_over
from pipeline.query.views.status_words import WELL

#: Each broker that has not stopped, with its newest finished window; null: none is over yet.
LIVE = """live AS (
  SELECT n.broker, n.epoch, n.clock_segment, n.window_start, n.as_of, b.cluster
  FROM newest_events n
  LEFT JOIN (SELECT broker, epoch FROM lane_snapshots WHERE milestone = 'ended' GROUP BY broker, epoch) e
    ON e.broker = n.broker AND e.epoch = n.epoch
  LEFT JOIN brokers b ON b.broker = n.broker
  WHERE e.broker IS NULL
)"""

_WELL = ", ".join(f"'{status}'" for status in WELL)
#: Of the newest check of each topic; catch_up_forecasts over the checks that count for it.
_CHECKED = """checked AS (
  SELECT s.broker, s.epoch, s.topic, s.subscription, s.check_number, s.check_time, s.oldest_age_ms, s.evicted_entries, s.complete,
    s.msg_backlog - coalesce(s.in_flight_entries, s.unacked_entries) = 0 AS none_waits
  FROM subscription_backlog s
  JOIN recent_checks r ON r.broker = s.broker AND r.epoch = s.epoch AND r.topic = s.topic AND r.check_number = s.check_number
  JOIN live l ON l.broker = s.broker AND l.epoch = s.epoch
  WHERE r.is_newest
),
counted AS (
  -- Of subscriptions for which entries wait: the others are current, and most are.
  SELECT s.*
  FROM subscription_backlog s
  JOIN recent_checks r ON r.broker = s.broker AND r.epoch = s.epoch AND r.topic = s.topic AND r.check_number = s.check_number
  JOIN checked c ON c.broker = s.broker AND c.epoch = s.epoch AND c.topic = s.topic AND c.subscription = s.subscription
  WHERE NOT coalesce(c.none_waits, false)
),
no_limits AS (SELECT * FROM policy_spans WHERE false),
foreseen AS (
  SELECT f.broker, f.epoch, f.topic, f.subscription, f.current_at, f.current_from, f.current_to
  FROM VIEW_OVER(catch_up_forecasts, subscription_backlog, counted) f
  JOIN checked c ON c.broker = f.broker AND c.epoch = f.epoch AND c.topic = f.topic AND c.subscription = f.subscription
    AND c.check_number = f.check_number
)"""


def _left_s(at: str, now: str) -> str:
    """SQL: a check may be minutes old, so what it foresaw counts from the newest event of its broker on. 0: now, or it is due."""
    return f"CASE WHEN {at} IS NOT NULL THEN greatest(0D, (unix_micros({at}) - unix_micros({now})) / 1e6) END"


def current_in_s(at: str) -> str:
    """SQL: the same until it is current; null where that was foreseen for a time that has passed, and it is behind all the same."""
    is_there = f"y.waiting = 0 OR y.status IN ({_WELL})"
    foreseen = (
        f"CASE WHEN f.current_at > y.known_until OR f.current_at IS NULL THEN {_left_s(at, 'y.known_until')} WHEN {is_there} THEN 0D END"
    )
    return f"CASE WHEN is_of_now AND c.complete THEN CASE WHEN c.none_waits THEN 0D ELSE {foreseen} END END"


def _without_limits(view: str) -> str:
    """Of a forecast the times are asked for. Limits have no part in them, and to compare each check with each limit takes long."""
    return sql_of(view).replace("FROM policy_spans", "FROM no_limits")


SUBSCRIPTIONS = with_views_over(
    f"""WITH {LIVE}, {_CHECKED}, standing AS (
  SELECT y.*, l.broker IS NOT NULL AND coalesce(y.unknown_reason, '') NOT IN ('broker_stopped', 'not_checked') AS is_of_now
  FROM why y
  LEFT JOIN live l ON l.broker = y.broker AND l.epoch = y.epoch
)
SELECT b.cluster, y.broker, n.namespace, y.topic, y.subscription, y.status, 1 AS one,
  y.cause, y.level, y.dimension,
  CASE WHEN y.cause = 'unknown' THEN y.unknown_reason END AS unknown_reason,
  CASE WHEN is_of_now AND y.complete THEN y.backlog END AS backlog,
  CASE WHEN is_of_now AND y.complete THEN y.waiting END AS waiting,
  CASE WHEN is_of_now AND y.status NOT IN ({_WELL}) THEN y.share END AS share,
  CASE WHEN is_of_now AND y.status NOT IN ({_WELL}) THEN unix_micros(y.since) / 1e6 END AS since_s,
  CASE WHEN is_of_now AND c.complete THEN c.oldest_age_ms / 1e3 END AS age_s,
  CASE WHEN c.complete THEN c.evicted_entries END AS evicted_entries,
  {current_in_s("f.current_at")} AS current_in_s,
  {current_in_s("f.current_from")} AS current_in_least_s,
  {current_in_s("f.current_to")} AS current_in_most_s
FROM standing y
LEFT JOIN brokers b ON b.broker = y.broker
LEFT JOIN topics n ON n.topic = y.topic
LEFT JOIN checked c ON c.broker = y.broker AND c.epoch = y.epoch AND c.topic = y.topic AND c.subscription = y.subscription
  AND c.check_time = y.checked_at
LEFT JOIN foreseen f ON f.broker = c.broker AND f.epoch = c.epoch AND f.topic = c.topic AND f.subscription = c.subscription
ORDER BY y.status IN ({_WELL}), y.backlog DESC, y.broker, y.topic, y.subscription""",
    _without_limits,
)

#: All windows that the tables have: no restart of a broker or of the job sets a sum back.
CAUSES = f"""WITH {LIVE}, summed AS (
  SELECT c.broker, c.topic, c.subscription, c.cause, c.level, c.dimension, c.unknown_reason,
    sum(c.ns) / 1e9 AS backlog_s, sum(c.entry_us) / 1e6 AS entry_s,
    coalesce(sum(CASE WHEN l.window_start = c.window_start AND l.clock_segment = c.clock_segment THEN c.entry_us END), 0) AS entry_us_now
  FROM subscription_causes c
  LEFT JOIN live l ON l.broker = c.broker AND l.epoch = c.epoch
  GROUP BY c.broker, c.topic, c.subscription, c.cause, c.level, c.dimension, c.unknown_reason
)
SELECT b.cluster, n.namespace, s.*
FROM summed s
LEFT JOIN brokers b ON b.broker = s.broker
LEFT JOIN topics n ON n.topic = s.topic
ORDER BY s.entry_us_now DESC, s.entry_s DESC, s.broker, s.topic, s.subscription, s.cause, s.level, s.dimension, s.unknown_reason"""

THROTTLED = f"""WITH {LIVE}
SELECT t.cluster, t.broker, t.namespace, t.topic, t.subscription,
  t.reads_binding, t.reads_nominal,
  t.blocked_ns_by_broker_limit / 1e9 AS blocked_by_broker_s,
  t.blocked_ns_by_topic_limit / 1e9 AS blocked_by_topic_s,
  t.blocked_ns_by_subscription_limit / 1e9 AS blocked_by_subscription_s
FROM subscription_throttle_now t
JOIN live l ON l.broker = t.broker AND l.epoch = t.epoch
WHERE t.complete
ORDER BY t.blocked_ns DESC, t.reads_binding DESC, t.broker, t.topic, t.subscription"""

STUCK = f"""WITH {LIVE}
SELECT l.cluster, s.broker, n.namespace, s.topic, s.subscription, s.stuck_s
FROM stuck_dispatchers s
JOIN live l ON l.broker = s.broker AND l.epoch = s.epoch
LEFT JOIN topics n ON n.topic = s.topic
WHERE s.still
ORDER BY s.stuck_s DESC, s.broker, s.topic, s.subscription"""

QUOTAS = f"""WITH {LIVE}
SELECT l.cluster, q.broker, n.namespace, q.topic, q.quota_type, q.share_of_limit,
  {_left_s("q.breach_at", "l.as_of")} AS breach_in_s,
  {_left_s("q.breach_from", "l.as_of")} AS breach_in_least_s,
  {_left_s("q.breach_to", "l.as_of")} AS breach_in_most_s
FROM quota_risk q
JOIN live l ON l.broker = q.broker AND l.epoch = q.epoch
LEFT JOIN topics n ON n.topic = q.topic
WHERE q.complete
ORDER BY q.breach_at ASC NULLS LAST, q.share_of_limit DESC NULLS LAST, q.broker, q.topic, q.quota_type"""

EVICTIONS = f"""WITH {LIVE}
SELECT t.cluster, t.broker, t.namespace, t.topic,
  t.storage_backlog_quota_exceeded_evictions_size_durable AS size, t.storage_backlog_quota_exceeded_evictions_time_durable AS time
FROM topic_backlog_now t
JOIN live l ON l.broker = t.broker AND l.epoch = t.epoch
WHERE t.complete
ORDER BY size + time DESC, t.broker, t.topic"""

#: A limiter that follows the publish rate is not modelled. In one window an old limiter may end and a new one begin.
LIMITERS = f"""WITH {LIVE}, used AS (
  SELECT l.cluster, u.*,
    row_number() OVER (PARTITION BY u.broker, u.level, u.topic, u.subscription, u.dimension ORDER BY u.created_at DESC) AS age
  FROM limiter_use u
  JOIN live l
    ON l.broker = u.broker AND l.epoch = u.epoch AND l.clock_segment = u.clock_segment AND l.window_start = u.window_start
  WHERE u.closed_at IS NULL AND NOT u.relative
)
SELECT u.cluster, u.broker, u.level, n.namespace, u.topic, u.subscription, u.dimension,
  u.rate / u.period_s AS permits_per_s,
  CASE WHEN u.complete THEN u.permits_end END AS tokens,
  CASE WHEN u.complete THEN u.debt END AS debt,
  CASE WHEN u.complete THEN u.used_share END AS used_share
FROM used u
LEFT JOIN topics n ON n.topic = u.topic
WHERE u.age = 1
ORDER BY u.debt DESC, u.used_share DESC NULLS LAST, u.broker, u.level, u.topic, u.subscription, u.dimension"""
