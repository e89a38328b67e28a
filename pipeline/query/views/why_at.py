"""The view `why` as of other instants than now: its query over other windows."""

from datetime import datetime

from pipeline.query.views.catalog import sql_of
from pipeline.query.views.inlined import with_views_over
from pipeline.warehouse.literals import instant

#: Columns that the query of `why` needs of a window.
_COLUMNS = "broker, epoch, clock_segment, window_start, window_end, log_until AS window_as_of, log_until AS as_of"

#: The same of a broker without one.
_NO_WINDOW = "broker, epoch, clock_segment, window_start, window_end, window_as_of, as_of"


#: Of an instant of the past: changes that were noticed until the end of its window. Where a clock was set, times do not tell which. Of the
#: last window of a log that is over the same counts as in open_logs.
_LOGS = (
    "SELECT w.broker, w.epoch, w.window_start, w.as_of,"
    " CASE WHEN l.last = w.window_start THEN coalesce(e.from_seq, 0) ELSE 0 END AS from_seq,"
    " CASE WHEN l.last = w.window_start THEN coalesce(e.drained_seq, 0) ELSE 0 END AS drained_seq FROM asked_windows w"
    " JOIN (SELECT broker, epoch, max(window_start) AS last, max(clock_segment) AS segments FROM broker_windows"
    " WHERE log_until > window_start GROUP BY broker, epoch) l ON l.broker = w.broker AND l.epoch = w.epoch"
    " LEFT JOIN (SELECT broker, epoch, max(CASE WHEN milestone = 'ended' THEN next_seq END) AS from_seq,"
    " max(CASE WHEN milestone = 'drained' THEN next_seq END) AS drained_seq FROM lane_snapshots"
    " GROUP BY broker, epoch) e ON e.broker = w.broker AND e.epoch = w.epoch"
    " WHERE l.segments = 0"
)
_CHANGES = (
    "SELECT t.* FROM cause_transitions t JOIN asked_windows w ON w.broker = t.broker AND w.epoch = t.epoch WHERE t.noticed_at <= w.as_of"
)


def why_sql(at: datetime | None) -> str:
    """SQL of `why`: now, or as of the window of an instant."""
    return "SELECT * FROM why" if at is None else why_at("true", instant(at))


def why_at(where: str, at: str | None = None, *, apart: bool = False) -> str:
    """SQL of `why` as of the last window of each broker that keeps `where` (SQL over broker_windows), and begins before `at` (SQL).

    `where` (true: all) names brokers and their epochs, or no epoch: then the newest that had begun counts. A topic is on one broker of a
    cluster at a time; `apart`: whatever others have, each broker has its topics, as if it alone were asked about.
    """
    before = "" if at is None else f" AND window_start < {at}"
    windows = (
        f"SELECT {_COLUMNS} FROM (SELECT *, row_number() OVER (PARTITION BY broker ORDER BY epoch DESC, clock_segment DESC,"
        f" window_start DESC) AS age FROM broker_windows WHERE {where} AND log_until > window_start{before}) WHERE age = 1"
    )
    if at is None:
        # A broker that has just started has no window yet.
        windows += f" UNION ALL SELECT {_NO_WINDOW} FROM newest_events WHERE {where} AND window_start IS NULL"
    asked, over = [f"asked_windows AS ({windows})"], ["newest_events, asked_windows"]
    if at is not None:
        asked += [f"asked_logs AS ({_LOGS})", f"asked_changes AS ({_CHANGES})"]
        over += ["open_logs, asked_logs", "cause_transitions, asked_changes"]
    if apart:
        asked.append("own_clusters AS (SELECT broker, broker AS cluster FROM asked_windows)")
        over.append("brokers, own_clusters")
    return with_views_over(f"WITH {', '.join(asked)} SELECT * FROM VIEW_OVER(why, {', '.join(over)})", sql_of)
