"""Which dates wait for a backfill: because events came late for them, or because what they begin from was changed since."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from pipeline.query.newest_room import NewestRoom
from pipeline.repair.backfill.stretch import Dates
from pipeline.warehouse.layout import Warehouse


@dataclass(frozen=True)
class Due:
    """Dates of a broker that wait, and why (`late`, `carried`; REASONS of the table backfills)."""

    dates: Dates
    reason: str


def late_dates(spark: SparkSession, warehouse: Warehouse, ingest_batch: int) -> list[Due]:
    """Runs of dates of which late events wait, that came until micro-batch `ingest_batch` of ingest."""
    if not NewestRoom(warehouse).rows(f"SELECT count(*) AS events FROM late_events WHERE {_waits(ingest_batch)}")[0]["events"]:
        return []  # mostly; where they belong costs Spark a join
    dates: dict[str, set[date]] = defaultdict(set)
    for row in waiting_events(spark, warehouse, ingest_batch).select("broker", "date").distinct().collect():
        dates[row.broker].add(row.date)
    return [Due(run, "late") for broker in sorted(dates) for run in runs(broker, dates[broker])]


def _waits(ingest_batch: int) -> str:
    """SQL that is true of a late event that waits, and came until then."""
    return f"backfilled_by IS NULL AND ingest_batch <= {ingest_batch}"


def waiting_events(spark: SparkSession, warehouse: Warehouse, ingest_batch: int) -> DataFrame:
    """(broker, epoch, seq, date) of late events that wait, that came until micro-batch `ingest_batch` of ingest.

    `date` is the lane's at their place, which may be another than that of their `ts`: a clock that was set, a moment around midnight.
    Of an event after what was its epoch's end it is the date of that end, which it moves.
    """
    late = spark.read.format("delta").load(warehouse.table("late_events"))
    waiting = late.where(_waits(ingest_batch))
    milestones = spark.read.format("delta").load(warehouse.table("lane_snapshots")).where("milestone <> 'settled'")
    ends = milestones.select("broker", "epoch", F.expr("milestone = 'day'").alias("is_day"), F.col("event_date").alias("end"), "next_seq")
    placed = waiting.join(ends, ["broker", "epoch"], "left").groupBy("broker", "epoch", "seq", "event_date").agg(
        F.min(F.expr("if(is_day AND next_seq > seq, end, null)")).alias("day"),
        F.max(F.expr("if(is_day, null, end)")).alias("last_day"),
        F.max(F.expr("if(is_day, date_add(end, 1), null)")).alias("open_day"),
    )  # fmt: skip
    return placed.select("broker", "epoch", "seq", F.expr("coalesce(day, last_day, greatest(event_date, open_day))").alias("date"))


def carried_dates(spark: SparkSession, warehouse: Warehouse) -> list[Due]:
    """Per broker the first date that begins from another snapshot than is there now."""
    snapshots = spark.read.format("delta").load(warehouse.table("lane_snapshots"))
    first = _broken_links(snapshots).groupBy("broker").agg(F.min_by(F.struct("event_date", "date_before"), "event_date").alias("link"))
    return [
        Due(Dates(row.broker, row.link.date_before + timedelta(days=1), row.link.event_date), "carried")
        for row in first.orderBy("broker").collect()
    ]


def _broken_links(snapshots: DataFrame) -> DataFrame:
    """Milestones that began from another snapshot than the one before them, with its date.

    The oldest snapshot of an epoch is not judged: what it began from may have been deleted (`maintain.keep_days`).
    """
    is_day = F.col("milestone") == "day"
    before = Window.partitionBy("broker", "epoch").orderBy("next_seq", ~is_day).rowsBetween(Window.unboundedPreceding, -1)
    linked = snapshots.select(
        "broker", "epoch", "milestone", "event_date", "began_from",
        F.last(F.when(is_day, F.col("digest")), ignorenulls=True).over(before).alias("digest_before"),
        F.last(F.when(is_day, F.col("event_date")), ignorenulls=True).over(before).alias("date_before"),
    )  # fmt: skip
    return linked.where("milestone <> 'settled' AND digest_before IS NOT NULL AND digest_before <> began_from")


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
