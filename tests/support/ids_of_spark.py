"""Ids and dates of events as Spark computes them: what ours are held against."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from schemas.ids import BROKER, SUBSCRIPTION, TOPIC, US_PER_DAY


def with_ids(events: DataFrame, ingest_batch: int) -> DataFrame:
    """Parsed events with the remaining columns of dispatch_events. xxhash64 skips nulls: an id of one is 0."""
    has_topic, has_sub = F.col("topic").isNotNull(), F.col("topic").isNotNull() & F.col("sub").isNotNull()
    nothing = F.lit(0).cast("long")
    return events.withColumns(
        {
            "event_date": F.date_from_unix_date(F.expr(f"cast(ts div {US_PER_DAY} as int)")),
            "broker_id": F.xxhash64(F.lit(BROKER), F.col("broker")),
            "topic_id": F.when(has_topic, F.xxhash64(F.lit(TOPIC), F.col("topic"))).otherwise(nothing),
            "sub_id": F.when(has_sub, F.xxhash64(F.lit(SUBSCRIPTION), F.col("topic"), F.col("sub"))).otherwise(nothing),
            "ingest_batch": F.lit(ingest_batch).cast("long"),
        }
    )
