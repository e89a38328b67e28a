"""Which milestones of lanes stand after events that a backfill does not count: lanes read these events after it began."""

from collections.abc import Collection, Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipeline.repair.backfill.stretch import Milestone
from pipeline.store.table_log import opened
from pipeline.warehouse.layout import Warehouse
from schemas.render.ddl import is_among

_PLACE = ["broker", "epoch", "seq"]
_Epoch = tuple[str, int]


def first_uncounted(spark: SparkSession, warehouse: Warehouse, brokers: Collection[str], ingest_batch: int) -> dict[_Epoch, int]:
    """By broker and epoch: least seq, below the epoch's newest milestone, of an event that came after micro-batch `ingest_batch` of ingest
    and that lanes may have applied: neither late nor a duplicate of one that counts. Epochs without such an event are missing.

    A lane goes on while a backfill runs, and may pass a date amid it. Its milestone then closes the date with events that the backfill
    leaves out: the rows of the backfill would lack them. Mostly nothing that came since lies below a milestone but what came late.
    """
    if not brokers or not _has_later(warehouse.table("dispatch_events"), ingest_batch):
        return {}
    bronze = spark.read.format("delta").load(warehouse.table("dispatch_events"))
    own = bronze.where(is_among("broker", brokers)).select(*_PLACE, "ingest_batch")
    milestones = spark.read.format("delta").load(warehouse.table("lane_snapshots")).groupBy("broker", "epoch")
    reached = milestones.agg(F.max("next_seq").alias("reached"))
    late = spark.read.format("delta").load(warehouse.table("late_events")).select(*_PLACE)
    after = own.where(F.col("ingest_batch") > ingest_batch).join(F.broadcast(reached), ["broker", "epoch"]).where("seq < reached")
    after = after.join(late, _PLACE, "left_anti").select(*_PLACE).persist()
    try:
        if not after.limit(1).count():
            return {}
        return _first(after.join(_counted(own, after, ingest_batch), _PLACE, "left_anti"))
    finally:
        after.unpersist()


def _has_later(uri: str, ingest_batch: int) -> bool:
    """Whether a file may have an event that came after the micro-batch, by the files' statistics."""
    files = opened(uri).get_add_actions(flatten=True)
    if "max.ingest_batch" not in files.schema.names:
        return True
    return any(newest is None or newest > ingest_batch for newest in files["max.ingest_batch"].to_pylist())


def counted_milestones(milestones: Mapping[_Epoch, Sequence[Milestone]], uncounted: Mapping[_Epoch, int]) -> dict[_Epoch, list[Milestone]]:
    """The milestones, by broker and epoch, before which every event counts: `uncounted` as `first_uncounted` gives it."""
    return {epoch: [one for one in own if epoch not in uncounted or one.next_seq <= uncounted[epoch]] for epoch, own in milestones.items()}


def _counted(own: DataFrame, after: DataFrame, ingest_batch: int) -> DataFrame:
    """Places of events that count, as far as one of `after` may repeat them: by bounds, so that Delta skips files without any."""
    bounds = after.agg(F.min("seq").alias("least"), F.max("seq").alias("most"), F.collect_set("epoch").alias("epochs")).collect()[0]
    near = own.where(F.col("epoch").isin(bounds.epochs) & F.col("seq").between(bounds.least, bounds.most))
    return near.where(F.col("ingest_batch") <= ingest_batch).select(*_PLACE)


def _first(places: DataFrame) -> dict[_Epoch, int]:
    rows = places.groupBy("broker", "epoch").agg(F.min("seq").alias("seq")).collect()
    return {(row.broker, row.epoch): row.seq for row in rows}
