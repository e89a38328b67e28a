"""Which dates wait for a backfill: because events came late for them, or because what they begin from was changed since."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta

import pyarrow as pa

from pipeline.query.room import ReadingRoom
from pipeline.repair.backfill.stretch import Dates
from schemas.render.ddl import is_among

_PLACE = pa.schema([("broker", pa.string()), ("epoch", pa.int64()), ("seq", pa.int64())])


@dataclass(frozen=True)
class Due:
    """Dates of a broker that wait, and why (`late`, `carried`; REASONS of the table backfills)."""

    dates: Dates
    reason: str


def late_dates(look: ReadingRoom, ingest_batch: int) -> list[Due]:
    """Runs of dates of which late events wait, that came until micro-batch `ingest_batch` of ingest."""
    dates: dict[str, set[date]] = defaultdict(set)
    for row in look.rows(f"SELECT DISTINCT broker, lane_date FROM ({_waiting_at_its_place(ingest_batch)})"):
        dates[row["broker"]].add(row["lane_date"])
    return [Due(run, "late") for broker in sorted(dates) for run in runs(broker, dates[broker])]


def waiting_events(look: ReadingRoom, ingest_batch: int, asked: Iterable[Dates]) -> pa.Table:
    """(broker, epoch, seq) of late events that wait, came until micro-batch `ingest_batch` of ingest, and are of the dates."""
    brokers: dict[tuple[date, date], list[str]] = defaultdict(list)
    for one in asked:
        brokers[one.first, one.last].append(one.broker)
    of_dates = " OR ".join(
        f"({is_among('broker', among)} AND lane_date BETWEEN '{first}' AND '{last}')" for (first, last), among in brokers.items()
    )
    batches = look.batches(f"SELECT broker, epoch, seq FROM ({_waiting_at_its_place(ingest_batch)}) WHERE {of_dates}")
    return pa.Table.from_batches(batches, _PLACE)


def _waiting_at_its_place(ingest_batch: int) -> str:
    """SQL: (broker, epoch, seq, lane_date) of late events that wait, and came until then.

    `lane_date` is the lane's at their place, which may be another than that of their `ts`: a clock that was set, a moment around midnight.
    Of an event after what was its epoch's end it is the date of that end, which it moves.
    """
    return f"""
        SELECT broker, epoch, seq, coalesce(day_of_place, last_day, greatest(event_date, open_day)) AS lane_date
        FROM (
          SELECT l.broker, l.epoch, l.seq, l.event_date,
            min(CASE WHEN m.milestone = 'day' AND m.next_seq > l.seq THEN m.event_date END) AS day_of_place,
            max(CASE WHEN m.milestone <> 'day' THEN m.event_date END) AS last_day,
            max(CASE WHEN m.milestone = 'day' THEN date_add(m.event_date, 1) END) AS open_day
          FROM late_events l
          LEFT JOIN (SELECT broker, epoch, milestone, event_date, next_seq FROM lane_snapshots WHERE milestone <> 'settled') m
            ON m.broker = l.broker AND m.epoch = l.epoch
          WHERE l.backfilled_by IS NULL AND l.ingest_batch <= {ingest_batch}
          GROUP BY l.broker, l.epoch, l.seq, l.event_date
        )"""


def carried_dates(look: ReadingRoom) -> list[Due]:
    """Per broker the first date that begins from another snapshot than is there now.

    The oldest snapshot of an epoch is not judged: what it began from may have been deleted (`maintain.keep_days`).
    """
    first = look.rows("""
        WITH linked AS (
          SELECT broker, epoch, milestone, event_date, began_from,
            last_value(CASE WHEN milestone = 'day' THEN digest END) IGNORE NULLS OVER before AS digest_before,
            last_value(CASE WHEN milestone = 'day' THEN event_date END) IGNORE NULLS OVER before AS date_before
          FROM lane_snapshots
          WINDOW before AS (
            PARTITION BY broker, epoch ORDER BY next_seq, milestone <> 'day' ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
          )
        ),
        broken AS (
          SELECT broker, event_date, date_before, row_number() OVER (PARTITION BY broker ORDER BY event_date, epoch) AS place
          FROM linked
          WHERE milestone <> 'settled' AND digest_before IS NOT NULL AND digest_before <> began_from
        )
        SELECT broker, event_date, date_before FROM broken WHERE place = 1 ORDER BY broker""")
    return [Due(Dates(row["broker"], row["date_before"] + timedelta(days=1), row["event_date"]), "carried") for row in first]


def without_last(due: Due) -> Due | None:
    """The same without its last date; None if it has one only."""
    dates = due.dates
    return None if dates.first == dates.last else Due(Dates(dates.broker, dates.first, dates.last - timedelta(days=1)), due.reason)


def runs(broker: str, dates: Iterable[date]) -> list[Dates]:
    """Dates as runs without a gap, ascending."""
    found: list[Dates] = []
    for one in sorted(dates):
        if found and found[-1].last + timedelta(days=1) == one:
            found[-1] = Dates(broker, found[-1].first, one)
        else:
            found.append(Dates(broker, one, one))
    return found
