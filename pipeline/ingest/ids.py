"""Columns of bronze that the JVM computes: hash ids beside the text, and the date. The bench uses them as well.

The driver computes the same ids of the few names that a micro-batch met.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

US_PER_DAY = 86_400_000_000
#: The level is hashed in, so that a topic never has a broker's id.
BROKER, TOPIC, SUBSCRIPTION = "b", "t", "s"


def broker_id() -> Column:
    """Hash of `broker`."""
    return F.xxhash64(F.lit(BROKER), F.col("broker"))


def topic_id() -> Column:
    """Hash of `topic`, 0 where it is null (xxhash64 skips nulls: it would give every such event the id of the empty level)."""
    return F.when(F.col("topic").isNull(), F.lit(0).cast("long")).otherwise(F.xxhash64(F.lit(TOPIC), F.col("topic")))


def sub_id() -> Column:
    """Hash of `topic` and `sub`, 0 where either is null."""
    missing = F.col("topic").isNull() | F.col("sub").isNull()
    return F.when(missing, F.lit(0).cast("long")).otherwise(F.xxhash64(F.lit(SUBSCRIPTION), F.col("topic"), F.col("sub")))


def event_date() -> Column:
    """UTC date of `ts` (µs, not before 1970), whatever the session's time zone is."""
    return F.date_from_unix_date(F.expr(f"cast(ts div {US_PER_DAY} as int)"))


def with_ids(events: DataFrame, ingest_batch: int) -> DataFrame:
    """Parsed events with the remaining columns of dispatch_events."""
    return events.withColumns(
        {
            "event_date": event_date(),
            "broker_id": broker_id(),
            "topic_id": topic_id(),
            "sub_id": sub_id(),
            "ingest_batch": F.lit(ingest_batch).cast("long"),
        }
    )
