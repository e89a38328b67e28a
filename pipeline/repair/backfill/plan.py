"""Which stretches of which epochs give the rows of dates, asked of dispatch_events and lane_snapshots."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from pipeline.query.room import ReadingRoom
from pipeline.repair.backfill.slices import rows_of
from pipeline.repair.backfill.stretch import Dates, EpochSpan, Milestone, NotClosed, Stretch, stretch_of
from pipeline.repair.backfill.uncounted_dates import counted_milestones, first_uncounted
from pipeline.warehouse.look import Look
from schemas.render.ddl import is_among, quoted
from schemas.tables import TABLES_BY_NAME

_DATES = "broker string, first date, last date"
_Epoch = tuple[str, int]


@dataclass(frozen=True)
class Plan:
    """Dates that can be computed anew, the stretches that give their rows (each with state and last date), and why others cannot."""

    dates: tuple[Dates, ...]
    stretches: dict[tuple[int, int], tuple[Stretch, bytes, date]]
    not_closed: dict[str, NotClosed]


def plan(spark: SparkSession, look: ReadingRoom, asked: Sequence[Dates], ingest_batch: int) -> Plan:
    """The plan for the dates (one range per broker), counting events up to micro-batch `ingest_batch` of ingest.

    The dates of a broker grow where events after what was an epoch's end move that end to a later date.
    """
    brokers = [one.broker for one in asked]
    milestones = counted_milestones(_milestones(look, brokers), first_uncounted(spark, look.warehouse, brokers, ingest_batch))
    ends = moved_ends(look, ingest_batch)
    wanted = {one.broker: _with_moved_ends(one, ends) for one in asked}
    stretches: list[tuple[Stretch, date]] = []
    not_closed: dict[str, NotClosed] = {}
    for span in _spans(spark, look, list(wanted.values()), ingest_batch):
        try:
            stretch = stretch_of(wanted[span.broker], span, milestones.get((span.broker, span.epoch), ()))
        except NotClosed as fault:
            not_closed[span.broker] = fault
            continue
        if stretch is not None:
            stretches.append((stretch, wanted[span.broker].last))
    possible = [(stretch, last) for stretch, last in stretches if stretch.span.broker not in not_closed]
    states = _states(look, [stretch for stretch, _ in possible])
    keyed = {
        (stretch.span.broker_id, stretch.span.epoch): (stretch, states.get((stretch.span.broker, stretch.span.epoch), b""), last)
        for stretch, last in possible
    }
    return Plan(tuple(one for one in wanted.values() if one.broker not in not_closed), keyed, not_closed)


def _milestones(look: Look, brokers: Collection[str]) -> dict[_Epoch, list[Milestone]]:
    milestones = defaultdict(list)
    for row in look.rows(f"SELECT broker, epoch, milestone, event_date, next_seq FROM lane_snapshots WHERE {is_among('broker', brokers)}"):
        milestones[row["broker"], row["epoch"]].append(Milestone(row["milestone"], row["event_date"], row["next_seq"]))
    return dict(milestones)


def moved_ends(look: Look, ingest_batch: int) -> list[Dates]:
    """For each epoch that was held to be over when more of it came: from the date of that end to that of the newest event after it."""
    moved = look.rows(f"""
        WITH ends AS (SELECT broker, epoch, next_seq, event_date AS ended FROM lane_snapshots WHERE milestone IN ('ended', 'drained'))
        SELECT broker, min(ended) AS ended, max(greatest(event_date, ended)) AS newest FROM late_events JOIN ends USING (broker, epoch)
        WHERE reason = 'epoch_over' AND ingest_batch <= {ingest_batch} AND seq >= next_seq GROUP BY broker, epoch""")
    return [Dates(row["broker"], row["ended"], row["newest"]) for row in moved]


def _with_moved_ends(dates: Dates, ends: Iterable[Dates]) -> Dates:
    """The dates and those of every end that moves from, to or over one of them: its old milestone must go where its new one comes."""
    for end in ends:
        if end.broker == dates.broker and end.first <= dates.last and end.last >= dates.first:
            dates = replace(dates, first=min(dates.first, end.first), last=max(dates.last, end.last))
    return dates


def _spans(spark: SparkSession, look: ReadingRoom, asked: list[Dates], ingest_batch: int) -> list[EpochSpan]:
    """Every epoch with events of the dates, or with rows of windows in which something lasted without any event.

    Events are many: Spark looks into them, and into the windows in the same job.
    """
    table, windows, none = look.warehouse.table, TABLES_BY_NAME["limiter_windows"], F.lit(None).cast("long")
    ranges = spark.createDataFrame([(one.broker, one.first, one.last) for one in asked], _DATES)
    bronze = spark.read.format("delta").load(table("dispatch_events")).where(F.col("ingest_batch") <= ingest_batch)
    pruned = bronze.where(F.col("event_date").between(min(one.first for one in asked), max(one.last for one in asked)))
    events = (
        pruned.join(F.broadcast(ranges), "broker").where("event_date BETWEEN first AND last").select("broker", "broker_id", "epoch", "seq")
    )
    lasting = rows_of(spark.read.format("delta").load(table(windows.name)), windows, asked)
    there = events.union(lasting.select("broker", none, "epoch", none)).groupBy("broker", "epoch")
    found = there.agg(F.max("broker_id").alias("id"), F.min("seq").alias("first_seq"), F.max("seq").alias("last_seq")).collect()
    ids = {row["broker"]: row["id"] for row in look.rows("SELECT broker, id FROM names WHERE level = 'broker'")}
    ids |= {row.broker: row.id for row in found if row.id is not None}
    return [EpochSpan(row.broker, ids[row.broker], row.epoch, row.first_seq, row.last_seq) for row in found if row.broker in ids]


def _states(look: Look, stretches: Iterable[Stretch]) -> dict[_Epoch, bytes]:
    begins = [(stretch.span.broker, stretch.span.epoch, stretch.first_seq) for stretch in stretches if stretch.first_seq > 1]
    if not begins:
        return {}
    wanted = ", ".join(f"({quoted(broker)}, {epoch}, {seq})" for broker, epoch, seq in begins)
    rows = look.rows(f"SELECT broker, epoch, state FROM lane_snapshots WHERE milestone = 'day' AND (broker, epoch, next_seq) IN ({wanted})")
    return {(row["broker"], row["epoch"]): bytes(row["state"]) for row in rows}
