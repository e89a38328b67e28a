-- Why is each subscription behind, since when, and what comes next? Read this first.
-- One row per subscription, the largest backlog × time first, as of the newest instant of its broker that is known. The rules:
-- docs/guide/why.md.
--   as_of         the instant: the end of the broker's newest window, or the newest event where the log ends within it. Where another
--                 cause holds it since then, or none does any more (cause_transitions): when that was noticed. Of a broker that has
--                 just started, and has no finished window, changes alone are known. Null until then: share, time_share, next_cause,
--                 backlog_s, pace_per_s, checked_at, completeness
--   known_until   ts of the newest event of its broker (newest_events): another cause that held 1.3 s before then would be here
--   status        current: no backlog. keeping up: entries go as they come. delayed: all that is there is held for a later delivery. Else it
--                 is behind, by the main cause: no consumer, held back (by a limiter), channel blocked, unacked limit, slow consumers,
--                 idle consumers, keys blocked, open transaction, redelivering, unacknowledged, overdue (for delivery), slow storage,
--                 catching up, stuck. Of Pulsar's own cursors: replicator behind, deduplication behind, compaction behind.
--                 unknown: the log does not tell, for the first three need proof up to as_of
--   cause         the cause that holds it now, if that changed in the window or later; else the main cause, with most entries × time of
--                 the window (docs/design/causes.md). level, dimension: of the limiter; null else
--   unknown_reason  of the status unknown: events_lost, beginning_not_seen, not_in_this_log; broker_stopped; not_checked: its backlog is
--                 gone, and nothing tells whether its topic was unloaded, or itself deleted. For both, backlog is that of checked_at,
--                 and waiting is null
--   cap           of unacked_limit: the cap that is reached; of stuck: the cap that is on though nothing is unacknowledged; else null
--   share         of the window's entries × time that was charged to it, 0 to 1; time_share: of the time with a backlog. Null: it holds
--                 since a change, and no window with it is over
--   since, since_s  when it began to hold, or became the main one, and how long before as_of
--   next_cause, next_share   the cause with the second most
--   backlog, waiting   entries at as_of; waiting: neither delivered nor held for later delivery. A cursor of Pulsar's own: at checked_at
--   backlog_s     seconds of the window with a backlog
--   lasts_s       seconds since there was no backlog, at most; from within the last five minutes on
--   pace_per_s    entries that were acknowledged in a second, in the last five minutes; null: not known
--   checked_at    the last quota check of the topic; null: none until as_of
WITH newest AS (
  SELECT broker, epoch, clock_segment, window_start, coalesce(window_as_of, as_of) AS as_of, as_of AS known_until
  FROM newest_events
),
charged AS (
  SELECT c.*, n.as_of,
    sum(c.entry_us) OVER (PARTITION BY c.broker, c.epoch, c.topic, c.subscription) AS all_entry_us,
    row_number() OVER (PARTITION BY c.broker, c.epoch, c.topic, c.subscription ORDER BY c.is_main DESC, c.entry_us DESC, c.ns DESC, c.cause,
      c.level, c.dimension, c.unknown_reason) AS place
  FROM subscription_causes c
  JOIN newest n
    ON n.broker = c.broker AND n.epoch = c.epoch AND n.clock_segment = c.clock_segment AND n.window_start = c.window_start
),
mains AS (
  SELECT m.*, s.cause AS next_cause, try_divide(s.entry_us, s.all_entry_us) AS next_share
  FROM charged m
  LEFT JOIN charged s
    ON s.broker = m.broker AND s.epoch = m.epoch AND s.topic = m.topic AND s.subscription = m.subscription AND s.place = 2
  WHERE m.place = 1
),
-- Changes that the newest window shows in a part of it only, or not at all, while the log goes on.
later AS (
  SELECT t.*, o.as_of AS window_as_of,
    max(CASE WHEN t.cause IS NULL THEN t.seq END) OVER (PARTITION BY t.broker, t.epoch, t.topic, t.subscription) AS free_seq
  FROM cause_transitions t
  JOIN open_logs o ON o.broker = t.broker AND o.epoch = t.epoch
  WHERE t.seq >= o.from_seq AND NOT (t.seq < o.drained_seq AND (coalesce(t.cause, '') = 'no_consumer' OR NOT t.open))
    AND (o.window_start IS NULL OR t.noticed_at > o.window_start)
),
changes AS (
  SELECT broker, epoch, topic, subscription, window_as_of, max(struct(seq, noticed_at, since, cause, level, dimension, unknown_reason, cap,
    backlog, waiting, open, complete)) AS last,
    min(CASE WHEN cause IS NOT NULL AND seq > coalesce(free_seq, 0) THEN since END) AS behind_since
  FROM later
  GROUP BY broker, epoch, topic, subscription, window_as_of
),
-- Dropped from the broker, as far as a change tells.
gone AS (
  SELECT broker, epoch, topic, subscription, last.noticed_at AS closed_at FROM changes WHERE NOT last.open
),
changed AS (
  SELECT c.*, coalesce(c.last.noticed_at >= c.window_as_of, true) AS is_later,
    coalesce(m.cause = c.last.cause AND coalesce(m.level, '') = coalesce(c.last.level, '')
      AND coalesce(m.dimension, '') = coalesce(c.last.dimension, ''), false) AS is_same
  FROM changes c
  LEFT JOIN mains m ON m.broker = c.broker AND m.epoch = c.epoch AND m.topic = c.topic AND m.subscription = c.subscription
  WHERE c.last.cause IS NOT NULL OR coalesce(c.last.noticed_at >= c.window_as_of, true)
),
behind AS (
  SELECT coalesce(m.broker, c.broker) AS broker, coalesce(m.epoch, c.epoch) AS epoch, coalesce(m.topic, c.topic) AS topic,
    coalesce(m.subscription, c.subscription) AS subscription,
    CASE WHEN c.broker IS NULL THEN m.cause ELSE c.last.cause END AS cause,
    CASE WHEN c.broker IS NULL THEN m.level ELSE c.last.level END AS level,
    CASE WHEN c.broker IS NULL THEN m.dimension ELSE c.last.dimension END AS dimension,
    CASE WHEN c.broker IS NULL THEN m.unknown_reason ELSE c.last.unknown_reason END AS unknown_reason,
    CASE WHEN c.broker IS NULL THEN m.cap ELSE c.last.cap END AS cap,
    CASE WHEN c.broker IS NULL THEN m.main_since ELSE c.last.since END AS main_since,
    CASE WHEN coalesce(c.is_same, true) THEN m.entry_us END AS entry_us,
    CASE WHEN coalesce(c.is_same, true) THEN m.ns END AS ns,
    CASE WHEN coalesce(c.is_same, true) THEN m.next_cause END AS next_cause,
    CASE WHEN coalesce(c.is_same, true) THEN m.next_share END AS next_share,
    m.all_entry_us, m.backlog_ns, coalesce(m.completeness, 1.0D) AS completeness,
    CASE WHEN c.is_later THEN c.last.backlog ELSE m.backlog_end END AS backlog_end,
    CASE WHEN c.is_later THEN c.last.waiting ELSE m.waiting_end END AS waiting_end,
    CASE WHEN c.is_later THEN c.last.complete ELSE m.complete END AS complete,
    CASE WHEN c.is_later THEN c.last.noticed_at END AS noticed_at,
    CASE WHEN c.is_later THEN c.last.open END AS open,
    CASE WHEN c.is_later THEN (unix_micros(c.last.noticed_at) - unix_micros(c.behind_since)) / 1e6 END AS held_s
  FROM mains m
  FULL JOIN changed c ON c.broker = m.broker AND c.epoch = m.epoch AND c.topic = m.topic AND c.subscription = m.subscription
),
-- The last five minutes, in whole windows.
reached AS (
  SELECT w.broker, w.epoch, min(w.window_start) AS begin_at, max(CASE WHEN w.lost_events > 0 THEN w.window_end END) AS lost_until
  FROM broker_windows w
  JOIN newest n ON n.broker = w.broker AND n.epoch = w.epoch AND n.clock_segment = w.clock_segment
  WHERE w.window_start <= n.window_start AND unix_micros(w.window_end) > unix_micros(n.as_of) - 300000000
  GROUP BY w.broker, w.epoch
),
lasting AS (
  SELECT c.broker, c.epoch, c.topic, c.subscription, c.window_start, c.window_end, c.window_start = n.window_start AS is_newest,
    max(c.backlog_ns) AS backlog_ns, sum(c.entry_us) * 1e3 / max(c.backlog_ns) AS mean_backlog,
    -- A thousandth of a window, and a millisecond, are no pause: two clocks measured them.
    max(c.backlog_ns) < (unix_micros(least(c.window_end, n.as_of)) - unix_micros(c.window_start)) * 999 - 1000000 AS had_pause
  FROM subscription_causes c
  JOIN newest n ON n.broker = c.broker AND n.epoch = c.epoch AND n.clock_segment = c.clock_segment
  WHERE c.window_start <= n.window_start AND unix_micros(c.window_end) > unix_micros(n.as_of) - 300000000
  GROUP BY c.broker, c.epoch, c.topic, c.subscription, c.window_start, c.window_end, n.window_start, n.as_of
),
broken AS (
  SELECT *,
    sum(CASE WHEN coalesce(later_start = window_end, is_newest) THEN 0 ELSE 1 END) OVER backwards AS breaks,
    coalesce(sum(CASE WHEN had_pause THEN 1 ELSE 0 END) OVER later, 0) AS pauses
  FROM (
    SELECT *, lag(window_start) OVER (PARTITION BY broker, epoch, topic, subscription ORDER BY window_start DESC) AS later_start FROM lasting
  )
  WINDOW backwards AS (PARTITION BY broker, epoch, topic, subscription ORDER BY window_start DESC),
    later AS (PARTITION BY broker, epoch, topic, subscription ORDER BY window_start DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
),
stretches AS (
  SELECT broker, epoch, topic, subscription, sum(backlog_ns) / 1e9 AS lasts_s
  FROM broken
  WHERE breaks = 0 AND pauses = 0
  GROUP BY broker, epoch, topic, subscription
),
-- Does it grow? Its mean at the end is held against the largest mean of a window of the earlier half: of the last five minutes, of a
-- shorter stretch of its own time, for every backlog grows when it begins. So neither steps of whoever acknowledges many at once decide,
-- nor the moment. Their size is the spread of that half.
placed_in_stretch AS (
  SELECT b.*,
    b.is_newest OR unix_micros(b.window_end) * 2 > unix_micros(n.as_of) * 2 - (unix_micros(b.window_end) - unix_micros(b.window_start)) AS is_end,
    unix_micros(b.window_end) <= unix_micros(n.as_of) - least(s.lasts_s, 300) * 500000 AS is_earlier,
    b.mean_backlog > lag(b.mean_backlog) OVER (PARTITION BY b.broker, b.epoch, b.topic, b.subscription ORDER BY b.window_start) AS is_higher
  FROM stretches s
  JOIN newest n ON n.broker = s.broker AND n.epoch = s.epoch
  JOIN broken b ON b.broker = s.broker AND b.epoch = s.epoch AND b.topic = s.topic AND b.subscription = s.subscription
  WHERE b.breaks = 0 AND b.pauses = 0
),
halves AS (
  SELECT broker, epoch, topic, subscription,
    sum(CASE WHEN is_end THEN mean_backlog * backlog_ns END) / sum(CASE WHEN is_end THEN backlog_ns END)
      - max(CASE WHEN is_earlier AND NOT is_end THEN mean_backlog END) AS grown,
    max(CASE WHEN is_earlier AND NOT is_end THEN mean_backlog END) - min(CASE WHEN is_earlier AND NOT is_end THEN mean_backlog END) AS spread,
    max(CASE WHEN is_earlier AND NOT is_end THEN struct(mean_backlog, window_end) END).window_end AS before_at,
    count(is_higher) >= 3 AND bool_and(is_higher) AS is_rising
  FROM placed_in_stretch
  GROUP BY broker, epoch, topic, subscription
),
served AS (
  SELECT t.broker, t.epoch, t.topic, t.subscription, sum(t.dispatched_entries) AS dispatched, min(t.opened_at) AS opened_at,
    bool_and(t.complete) AS complete, min(t.completeness) AS completeness, max(t.window_start) = max(n.window_start) AS is_recent,
    -- An earlier dispatcher may have closed: a consumer of another type makes a new one.
    max(struct(t.opened_at, t.window_start, t.closed_at)).closed_at AS closed_at
  FROM subscription_throttle t
  JOIN newest n ON n.broker = t.broker AND n.epoch = t.epoch AND n.clock_segment = t.clock_segment
  WHERE t.window_start <= n.window_start AND unix_micros(t.window_end) > unix_micros(n.as_of) - 300000000
  GROUP BY t.broker, t.epoch, t.topic, t.subscription
),
-- What the checks say, of topics that each broker has at that instant.
latest AS (
  SELECT t.broker, t.epoch, t.topic, max(t.check_number) AS check_number
  FROM topic_backlog t
  JOIN newest n ON n.broker = t.broker AND n.epoch = t.epoch
  WHERE t.check_time <= n.as_of AND n.window_start IS NOT NULL
  GROUP BY t.broker, t.epoch, t.topic
),
placed AS (
  SELECT t.broker, t.epoch, t.topic, t.check_number, t.check_time, t.decision,
    max(t.check_time) OVER (PARTITION BY t.broker, t.epoch) AS newest_check,
    row_number() OVER (PARTITION BY b.cluster, t.topic ORDER BY t.check_time DESC, t.epoch DESC, t.broker) AS age
  FROM latest l
  JOIN topic_backlog t ON t.broker = l.broker AND t.epoch = l.epoch AND t.topic = l.topic AND t.check_number = l.check_number
  LEFT JOIN brokers b ON b.broker = t.broker
),
checked AS (
  SELECT s.*,
    -- The slowest durable cursor fills a quota that is exceeded (pulsar-semantics §2.3).
    p.decision IN ('size', 'time') AND s.msg_backlog > 0 AND row_number() OVER (PARTITION BY s.broker, s.epoch, s.topic
      ORDER BY s.durable AND s.msg_backlog > 0 DESC, s.mark_delete_ledger, s.mark_delete_entry, s.subscription) = 1 AS fills_quota,
    s.complete OR s.incomplete_reason IN ('points_missing', 'deletions_unknown') AS tells_backlog
  FROM placed p
  JOIN check_intervals i ON i.broker = p.broker AND i.epoch = p.epoch
  JOIN subscription_backlog s ON s.broker = p.broker AND s.epoch = p.epoch AND s.topic = p.topic AND s.check_number = p.check_number
  WHERE p.age = 1 AND (i.interval_s IS NULL OR unix_micros(p.newest_check) - unix_micros(p.check_time) < 2 * i.interval_s * 1000000)
),
-- Checks of the last five minutes, but for those before the host's clock was set back.
recent AS (
  SELECT s.*, sum(CASE WHEN s.next_time < s.check_time THEN 1 ELSE 0 END) OVER (PARTITION BY s.broker, s.epoch, s.topic, s.subscription
    ORDER BY s.check_number DESC) AS clock_breaks
  FROM (
    SELECT b.broker, b.epoch, b.topic, b.subscription, b.opened_at, b.check_time, b.check_number, b.msg_backlog, b.acknowledged_entries,
      b.acknowledged_entries + b.expired_entries AS gone_entries,
      lead(b.check_time) OVER (PARTITION BY b.broker, b.epoch, b.topic, b.subscription ORDER BY b.check_number) AS next_time
    FROM subscription_backlog b
    JOIN newest n ON n.broker = b.broker AND n.epoch = b.epoch
    WHERE b.check_time <= n.as_of AND n.window_start IS NOT NULL AND unix_micros(b.check_time) >= unix_micros(n.as_of) - 330000000
  ) s
),
paced AS (
  SELECT s.broker, s.epoch, s.topic, s.subscription, s.opened_at,
    (max(unix_micros(s.check_time)) - min(unix_micros(s.check_time))) / 1e6 AS over_s,
    max(s.acknowledged_entries) - min(s.acknowledged_entries) AS acknowledged, max(s.gone_entries) - min(s.gone_entries) AS gone,
    min_by(s.msg_backlog, s.check_number) AS first_backlog, max(unix_micros(s.check_time)) AS newest_us,
    -- The same since its growth counts, from the last check before.
    (max(unix_micros(s.check_time)) - max(CASE WHEN s.check_time <= h.before_at THEN unix_micros(s.check_time) END)) / 1e6 AS half_s,
    max(s.gone_entries) - max(CASE WHEN s.check_time <= h.before_at THEN s.gone_entries END) AS half_gone
  FROM recent s
  LEFT JOIN halves h ON h.broker = s.broker AND h.epoch = s.epoch AND h.topic = s.topic AND h.subscription = s.subscription
  WHERE s.clock_breaks = 0
  GROUP BY s.broker, s.epoch, s.topic, s.subscription, s.opened_at
),
-- Of a broker that stopped nothing is there any more: what its subscriptions have then, another broker knows.
stopped AS (
  SELECT n.broker, n.epoch
  FROM newest n
  JOIN (SELECT broker, epoch FROM lane_snapshots WHERE milestone = 'ended' GROUP BY broker, epoch) e ON e.broker = n.broker AND e.epoch = n.epoch
  JOIN broker_windows w ON w.broker = n.broker AND w.epoch = n.epoch AND w.log_until > w.window_start
  GROUP BY n.broker, n.epoch, n.clock_segment, n.window_start
  HAVING max(struct(w.clock_segment, w.window_start)) = struct(n.clock_segment, n.window_start)
),
known AS (
  SELECT broker, epoch, topic, subscription FROM behind
  UNION SELECT broker, epoch, topic, subscription FROM checked
  UNION SELECT broker, epoch, topic, subscription FROM served WHERE closed_at IS NULL AND is_recent
),
-- A cursor that Pulsar moves by itself has no consumers: only compaction's has causes, for the broker has a subscription of it.
whose AS (
  SELECT k.*, coalesce(c.cursor_kind, OWN_KIND_OF(k.subscription)) AS kind
  FROM known k
  LEFT JOIN checked c ON c.broker = k.broker AND c.epoch = k.epoch AND c.topic = k.topic AND c.subscription = k.subscription
),
-- Of each subscription what there is at the instant, and how fast it goes.
found AS (
  SELECT k.broker, k.epoch, k.topic, k.subscription, coalesce(b.noticed_at, n.as_of) AS as_of, n.known_until, n.window_start, r.lost_until,
    b.cause, b.level, b.dimension, b.unknown_reason, b.cap, b.entry_us, b.all_entry_us, b.ns, b.backlog_ns, b.main_since, b.next_cause, b.next_share,
    c.check_time AS checked_at, c.msg_backlog AS checked_backlog, d.broker IS NOT NULL AS is_stopped, c.oldest_age_ms, c.incomplete_reason,
    k.kind, k.kind IN ('replicator', 'deduplication', 'compaction') AS is_pulsars_own, coalesce(c.fills_quota, false) AS fills_quota,
    coalesce(b.backlog_end, CASE WHEN k.kind IN ('replicator', 'deduplication') THEN c.msg_backlog END, 0) AS backlog,
    coalesce(b.waiting_end, CASE WHEN k.kind IN ('replicator', 'deduplication') THEN c.msg_backlog END, 0) AS waiting,
    coalesce(b.complete, c.tells_backlog, v.complete, false) AS tells_backlog,
    coalesce(b.complete, c.complete, v.complete, false) AS complete,
    CASE WHEN n.window_start IS NOT NULL THEN coalesce(b.completeness, v.completeness, 1.0D) END AS completeness,
    -- A backlog may also be gone because the topic was unloaded, or the subscription deleted: not while it is served, or checked without one
    -- and not closed since.
    b.backlog_end > 0 OR b.open OR (c.msg_backlog = 0 AND NOT coalesce(greatest(v.closed_at, g.closed_at) > c.check_time, false)) OR (k.kind IN ('replicator', 'deduplication') AND c.broker IS NOT NULL)
      OR (v.broker IS NOT NULL AND v.closed_at IS NULL AND coalesce(b.open, true)) AS is_there,
    CASE WHEN b.cause IS NOT NULL THEN coalesce(b.completeness < 1, false)
      ELSE coalesce(unix_micros(r.lost_until) > unix_micros(coalesce(c.check_time, n.window_start)), false) END AS lost_since,
    -- A check has the backlog of Pulsar's own cursors, no window.
    CASE WHEN b.cause IS NULL THEN c.msg_backlog - p.first_backlog ELSE h.grown END AS grown,
    CASE WHEN b.cause IS NULL THEN p.gone
      ELSE coalesce(CASE WHEN p.half_s > 0 THEN p.half_gone / p.half_s END, CASE WHEN p.over_s >= 50 THEN p.gone / p.over_s END)
        * (unix_micros(n.as_of) - unix_micros(h.before_at)) / 1e6 END AS gone,
    (unix_micros(n.as_of) - unix_micros(h.before_at)) / 1e6 AS grown_s, coalesce(h.spread, 0) AS spread,
    coalesce(h.is_rising, false) AS is_rising,
    CASE WHEN b.noticed_at IS NULL THEN l.lasts_s
      WHEN b.cause IS NOT NULL THEN coalesce(l.lasts_s + (unix_micros(b.noticed_at) - unix_micros(n.as_of)) / 1e6, b.held_s) END AS lasts_s,
    -- Checks count acknowledgements, where one lies within this backlog; else what was delivered, less what is still there of it, is the
    -- least that went.
    CASE WHEN p.over_s >= 50 AND coalesce(unix_micros(n.as_of) - p.newest_us < l.lasts_s * 1e6, true) THEN p.acknowledged / p.over_s
      WHEN v.dispatched IS NOT NULL THEN greatest(0, v.dispatched - coalesce(b.backlog_end - b.waiting_end, 0))
        / greatest(1e-3, (unix_micros(n.as_of) - unix_micros(greatest(r.begin_at, v.opened_at))) / 1e6) END AS pace_per_s
  FROM whose k
  JOIN newest n ON n.broker = k.broker AND n.epoch = k.epoch
  LEFT JOIN reached r ON r.broker = k.broker AND r.epoch = k.epoch
  LEFT JOIN stopped d ON d.broker = k.broker AND d.epoch = k.epoch
  LEFT JOIN behind b ON b.broker = k.broker AND b.epoch = k.epoch AND b.topic = k.topic AND b.subscription = k.subscription
  LEFT JOIN stretches l ON l.broker = k.broker AND l.epoch = k.epoch AND l.topic = k.topic AND l.subscription = k.subscription
  LEFT JOIN halves h ON h.broker = k.broker AND h.epoch = k.epoch AND h.topic = k.topic AND h.subscription = k.subscription
  LEFT JOIN served v ON v.broker = k.broker AND v.epoch = k.epoch AND v.topic = k.topic AND v.subscription = k.subscription
  LEFT JOIN checked c ON c.broker = k.broker AND c.epoch = k.epoch AND c.topic = k.topic AND c.subscription = k.subscription
  LEFT JOIN gone g ON g.broker = k.broker AND g.epoch = k.epoch AND g.topic = k.topic AND g.subscription = k.subscription
  LEFT JOIN paced p ON p.broker = c.broker AND p.epoch = c.epoch AND p.topic = c.topic AND p.subscription = c.subscription
    AND p.opened_at = c.opened_at
),
-- Of what only waits for its delivery time, what else waits counts.
moving AS (
  SELECT *, CASE WHEN cause = 'delayed' THEN waiting ELSE backlog END AS to_go,
    greatest(0, coalesce(gone, pace_per_s * grown_s) + grown) AS came
  FROM found
),
judged AS (
  SELECT *,
    CASE
      WHEN backlog = 0 THEN 'current'
      WHEN cause = 'delayed' AND waiting = 0 THEN 'delayed'
      -- Compaction moves in steps: that entries wait for the next one is normal, unless they fill a quota.
      WHEN kind = 'compaction' THEN CASE WHEN NOT fills_quota THEN 'well' END
      WHEN NOT (coalesce(is_pulsars_own, false) OR cause IN ('in_flight', 'catching_up', 'delayed')) THEN NULL
      -- Nothing is older than half a minute.
      WHEN lasts_s <= 30 THEN 'well'
      -- What is left over is older than all that goes at this pace.
      WHEN oldest_age_ms > 120000 AND coalesce(cause, '') <> 'delayed' AND coalesce(lasts_s > (unix_micros(as_of) - unix_micros(checked_at)) / 1e6, true)
        THEN NULL
      -- It goes in ten seconds; or in two minutes, and does not grow by a tenth of what comes (nor by more than chance and its own steps
      -- make). A backlog that rises from window to window does not grow by 3 %. Too young for that: in half a minute.
      WHEN to_go <= pace_per_s * 10 THEN 'well'
      WHEN to_go <= pace_per_s * 120 AND is_rising THEN CASE WHEN grown <= greatest(came * 0.03, 2 * sqrt(came)) THEN 'well' END
      WHEN to_go <= pace_per_s * 120 AND grown <= greatest(came * 0.1, 2 * sqrt(came), spread / 2) THEN 'well'
      WHEN to_go <= pace_per_s * 30 AND grown IS NULL THEN 'well'
    END AS well
  FROM moving
)
SELECT
  broker, epoch, topic, subscription, as_of, known_until,
  CASE
    WHEN well IS NOT NULL AND (is_stopped OR lost_since OR NOT tells_backlog OR NOT coalesce(is_there, false)) THEN 'unknown'
    WHEN well = 'well' THEN CASE WHEN cause = 'delayed' THEN 'delayed' ELSE 'keeping up' END
    WHEN well IS NOT NULL THEN well
    WHEN is_pulsars_own THEN concat(kind, ' behind')
    ELSE STATUS_OF(cause)
  END AS status,
  cause, level, dimension,
  CASE
    WHEN well IS NOT NULL AND is_stopped THEN 'broker_stopped'
    WHEN well IS NOT NULL AND lost_since THEN 'events_lost'
    WHEN well IS NOT NULL AND NOT tells_backlog THEN
      CASE WHEN incomplete_reason = 'events_lost' OR lost_until IS NOT NULL THEN 'events_lost' ELSE 'beginning_not_seen' END
    WHEN well IS NOT NULL AND NOT coalesce(is_there, false) THEN 'not_checked'
    ELSE unknown_reason
  END AS unknown_reason,
  cap,
  try_divide(entry_us, all_entry_us) AS share,
  try_divide(ns, backlog_ns) AS time_share,
  main_since AS since,
  (unix_micros(as_of) - unix_micros(main_since)) / 1e6 AS since_s,
  next_cause, next_share,
  CASE WHEN well IS NOT NULL AND (is_stopped OR NOT coalesce(is_there, false)) THEN coalesce(checked_backlog, backlog) ELSE backlog END AS backlog,
  CASE WHEN NOT (well IS NOT NULL AND (is_stopped OR NOT coalesce(is_there, false))) THEN waiting END AS waiting,
  CASE WHEN window_start IS NOT NULL THEN coalesce(backlog_ns, 0) / 1e9 END AS backlog_s,
  lasts_s, pace_per_s, checked_at, complete, completeness
FROM judged
ORDER BY coalesce(all_entry_us, backlog * (unix_micros(as_of) - unix_micros(main_since)), 0) DESC, topic, subscription
