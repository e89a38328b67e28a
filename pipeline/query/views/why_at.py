"""The view `why` as of other instants than now: its query over other windows."""

from datetime import datetime

from pipeline.query.views.catalog import sql_of
from pipeline.query.views.inlined import with_views_over
from pipeline.warehouse.literals import instant

#: Columns that the query of `why` needs of a window.
_COLUMNS = "broker, epoch, clock_segment, window_start, window_end, log_until AS window_as_of, log_until AS as_of"

#: The same of a broker without one.
_NO_WINDOW = "broker, epoch, clock_segment, window_start, window_end, window_as_of, as_of"


def why_sql(at: datetime | None) -> str:
    """SQL of `why`: now, or as of the window of an instant."""
    return "SELECT * FROM why" if at is None else why_at("true", instant(at))


def why_at(where: str, at: str | None = None) -> str:
    """SQL of `why` as of the last window of each broker that keeps `where` (SQL over broker_windows), and begins before `at` (SQL).

    `where` (true: all) names a broker and its epoch, or no epoch: then the newest that had begun counts.
    """
    before = "" if at is None else f" AND window_start < {at}"
    windows = (
        f"SELECT {_COLUMNS} FROM (SELECT *, row_number() OVER (PARTITION BY broker ORDER BY epoch DESC, clock_segment DESC,"
        f" window_start DESC) AS age FROM broker_windows WHERE {where}{before}) WHERE age = 1"
    )
    if at is None:
        # A broker that has just started has no window yet.
        windows += f" UNION ALL SELECT {_NO_WINDOW} FROM newest_events WHERE {where} AND window_start IS NULL"
    over = "newest_events, asked_windows" if at is None else "newest_events, asked_windows, open_logs, asked_logs"
    # Of an instant of the past its window tells. A later change is none of its.
    logs = "SELECT *, 0 AS from_seq FROM asked_windows WHERE false"
    return with_views_over(f"WITH asked_windows AS ({windows}), asked_logs AS ({logs}) SELECT * FROM VIEW_OVER(why, {over})", sql_of)
