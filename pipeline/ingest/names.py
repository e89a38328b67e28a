"""Text of every id that bronze uses, written when it is first met."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pipeline.faults import BrokenInvariant
from pipeline.ingest.ids import broker_id, sub_id, topic_id
from pipeline.sinks.append import app_id_of, append
from pipeline.warehouse.layout import Warehouse
from schemas.tables.bookkeeping import NAMES

_TEXT = ("level", "broker", "topic", "subscription")


def write_names(used: DataFrame, warehouse: Warehouse, query_id: str, batch_id: int) -> None:
    """Add to `names` what `used` (broker, topic, sub of events; repeats do not matter) names and the table lacks.

    Raises BrokenInvariant if an id has two texts: hashes of 64 bits do not collide by chance among names that a person could count.
    """
    known = used.sparkSession.read.format("delta").load(warehouse.table(NAMES.name))
    same = [F.col(f"u.{name}").eqNullSafe(F.col(f"k.{name}")) for name in _TEXT]
    unknown = _named(used).alias("u").join(known.alias("k"), [F.col("u.id") == F.col("k.id"), *same], "left_anti").persist()
    try:
        if not unknown.isEmpty():
            _check_one_text(unknown, known)
            append(unknown.coalesce(1), warehouse, NAMES.name, app_id_of(query_id, NAMES.name), batch_id)
    finally:
        unknown.unpersist()


def _named(used: DataFrame) -> DataFrame:
    """(id, level, broker, topic, subscription) of every id of (broker, topic, sub), each once."""
    nothing = F.lit(None).cast("string")
    levels = (
        (broker_id(), "broker", F.col("broker"), nothing, nothing, F.lit(True)),
        (topic_id(), "topic", nothing, F.col("topic"), nothing, F.col("topic").isNotNull()),
        (sub_id(), "subscription", nothing, F.col("topic"), F.col("sub"), F.col("topic").isNotNull() & F.col("sub").isNotNull()),
    )
    entries = [
        F.when(
            there,
            F.struct(
                number.alias("id"), F.lit(level).alias("level"), broker.alias("broker"), topic.alias("topic"), sub.alias("subscription")
            ),
        )
        for number, level, broker, topic, sub, there in levels
    ]
    return used.distinct().select(F.explode(F.array_compact(F.array(*entries))).alias("name")).select("name.*").distinct()


def _check_one_text(unknown: DataFrame, known: DataFrame) -> None:
    """`unknown` holds only names that the table does not have as they are: an id that is there twice, or in the table, has two texts."""
    ids = unknown.select("id").union(known.select("id")).groupBy("id").count()
    for row in ids.where("count > 1").limit(1).collect():
        texts = unknown.unionByName(known).where(F.col("id") == row.id).select(*_TEXT).collect()
        raise BrokenInvariant(f"id {row.id} stands for {' and '.join(str(tuple(text)) for text in texts)}: two texts have the same hash")
