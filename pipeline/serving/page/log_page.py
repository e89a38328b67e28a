"""The page of the log's health: did all arrive, is every line accounted for, where are the gaps."""

from collections.abc import Mapping

from pipeline.query.room import ReadingRoom
from pipeline.serving.page.frame import frame_of, moment_of
from pipeline.serving.page.html import rendered

#: More gaps are not read by anybody.
MOST_ROWS = 200


def log_page(room: ReadingRoom, asked: Mapping[str, str]) -> str:
    """`/log`: as the tables are now, whatever moment is asked for; that only stays in the links."""
    (balance,) = room.rows("SELECT * FROM log_balance")
    health = room.rows("SELECT * FROM log_health ORDER BY last_ts DESC LIMIT 200")
    return rendered(
        "log.html",
        frame=frame_of(room, moment_of(asked)),
        health=health,
        balance=balance,
        lost=sum(row["lost_events"] for row in health),
        rejected=sum(row["quarantined"] for row in health),
        awaited=sum(row["awaited"] for row in health),
        gaps=room.rows(f"SELECT * FROM log_gaps ORDER BY ts_after DESC LIMIT {MOST_ROWS}"),
        runs=room.rows("SELECT command, outcome, started_at, ended_at, micro_batches FROM runs ORDER BY started_at DESC LIMIT 5"),
    )
