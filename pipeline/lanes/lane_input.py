"""Bronze and control rows as lanes are handed them: packets of events (pipeline/lanes/packets/), and control rows one by one.

An event that is in no packet of this version's layout is packed on its way, by the same function: it is of a version before, written by
Spark, or put back from quarantine. A backfill reads stretches of bronze row by row.
"""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, LongType, StructField, StructType

from pipeline.lanes.packets.bronze_columns import columns_read, lane_columns_of
from pipeline.lanes.packets.of_events import packets_of
from schemas.events import DRAIN_CODE, TOMBSTONE_CODE
from schemas.lane_columns import LANE_COLUMNS, LANE_KEY, LAYOUT, PACKET, ROW
from schemas.render.arrow import arrow_schema
from schemas.tables.bronze import DISPATCH_EVENTS, LANE_LAYOUT, LANE_PACKET

#: Stretches of epochs, as `replayed_rows` wants them.
WANTED = f"{LANE_KEY} bigint, epoch bigint, first_seq bigint, last_seq bigint"
#: Lane rows as columns of a frame.
LANE_ROWS_TYPE = StructType([StructField(name, LongType(), False) for name in (LANE_KEY, *LANE_COLUMNS)])
_LANE_ROWS = pa.schema([pa.field(name, pa.int64(), nullable=False) for name in (LANE_KEY, *LANE_COLUMNS)])
_CONTROL_CODES = {"drain": DRAIN_CODE, "tombstone": TOMBSTONE_CODE}
#: Without nulls, as bronze has them: a query keeps the type of the key that it began with, whichever way its events come.
_PACKETS_TYPE = StructType([StructField(LANE_KEY, LongType(), False), StructField(PACKET, BinaryType(), False)])
_PACKETS = pa.schema([pa.field(LANE_KEY, pa.int64(), nullable=False), pa.field(PACKET, pa.binary(), nullable=False)])
_TYPES = {field.name: field.type for field in arrow_schema(DISPATCH_EVENTS.fields)}


def in_packets() -> Column:
    """Of a row of `dispatch_events`: whether the event is in a packet that lanes can open."""
    return F.col(LANE_LAYOUT).eqNullSafe(LAYOUT)


def packets(bronze: DataFrame) -> DataFrame:
    """The packets in `dispatch_events` rows as lanes are handed them: (lane, packet, no row)."""
    kept = bronze.where(in_packets() & F.col(LANE_PACKET).isNotNull())
    return _without_rows(kept.select(F.col("broker_id").alias(LANE_KEY), F.col(LANE_PACKET).alias(PACKET)))


def all_packets(bronze: DataFrame) -> DataFrame:
    """The same of all `dispatch_events` rows: what is in no packet is packed.

    In one pass: two over one table would be two sources to Spark, and a query must keep the sources that it began with.
    """
    kept = bronze.where(~in_packets() | F.col(LANE_PACKET).isNotNull())
    packet = F.when(in_packets(), F.col(LANE_PACKET)).alias(PACKET)
    return _without_rows(kept.select(*columns_read(), packet).mapInArrow(_packed, _PACKETS_TYPE))


def packets_anew(bronze: DataFrame) -> DataFrame:
    """The same, whatever packets are there: the rows of `dispatch_events` as they are."""
    return _without_rows(bronze.select(*columns_read(), F.lit(None).cast("binary").alias(PACKET)).mapInArrow(_packed, _PACKETS_TYPE))


def packets_hold_every_event(bronze: DataFrame) -> bool:
    """Whether packets hold as many events as there are rows in packets: no row of `dispatch_events` was deleted alone."""
    counted = F.expr(f"cast(conv(hex(substring({LANE_PACKET}, 1, 8)), 16, 10) AS bigint)")
    (row,) = bronze.where(in_packets()).agg(F.count("*").alias("rows"), F.coalesce(F.sum(counted), F.lit(0)).alias("events")).collect()
    return bool(row.rows == row.events)


def control_rows(control: DataFrame) -> DataFrame:
    """`lane_control` rows as lanes are handed them: (lane, no packet, row). Each column of a group costs Python a conversion."""
    return _control_lane_rows(control).select(LANE_KEY, F.lit(b"").alias(PACKET), F.array(*LANE_COLUMNS).alias(ROW))


def replayed_rows(bronze: DataFrame, control: DataFrame, wanted: DataFrame) -> DataFrame:
    """(lane, LANE_COLUMNS) of stretches of epochs, each epoch whole in one partition, there sorted by lane, epoch and `seq`.

    `wanted` has the columns WANTED. Of repeats the one that counts comes first.
    """
    events = bronze.select(*columns_read()).mapInArrow(_lane_rows, LANE_ROWS_TYPE)
    rows = events.unionByName(_control_lane_rows(control.where("kind = 'tombstone'")))
    stretches = rows.join(F.broadcast(wanted), [LANE_KEY, "epoch"]).where("seq BETWEEN first_seq AND last_seq")
    # as in a lane: an event before a tombstone, the earlier ingest batch before the later, the earlier arrival before the later
    first = (F.col("type_code") == TOMBSTONE_CODE, "ingest_batch", "arrival")
    whole = stretches.drop("first_seq", "last_seq").repartition(LANE_KEY, "epoch")
    return whole.sortWithinPartitions(LANE_KEY, "epoch", "seq", *first)


def _without_rows(packets_of_lanes: DataFrame) -> DataFrame:
    return packets_of_lanes.select(LANE_KEY, PACKET, F.expr("cast(array() AS array<bigint>)").alias(ROW))


def _packed(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows of `dispatch_events`, each with the packet that it has, to (lane, packet). A row without one is packed."""
    for rows in batches:
        packet = rows[PACKET]
        there = packet.is_valid()
        yield pa.RecordBatch.from_arrays([rows["broker_id"].filter(there), packet.filter(there)], schema=_PACKETS)
        events = _as_declared(rows.filter(packet.is_null()))
        packed = packets_of(events)
        lanes = events["broker_id"].take(pa.array([place for place, _ in packed], pa.int64()))
        yield pa.RecordBatch.from_arrays([lanes, pa.array([packet for _, packet in packed], pa.binary())], schema=_PACKETS)


def _lane_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows of `dispatch_events` to LANE_ROWS_TYPE."""
    for rows in batches:
        lane = lane_columns_of(_as_declared(rows))
        yield pa.RecordBatch.from_arrays([rows["broker_id"], *map(pa.array, np.ascontiguousarray(lane))], schema=_LANE_ROWS)


def _as_declared(rows: pa.RecordBatch) -> pa.RecordBatch:
    """The columns of bronze in their declared types: Spark has others for text and maps."""
    names = columns_read()
    return pa.RecordBatch.from_arrays([rows[name].cast(_TYPES[name]) for name in names], schema=pa.schema([(n, _TYPES[n]) for n in names]))


def _control_lane_rows(control: DataFrame) -> DataFrame:
    """`lane_control` rows to (lane, LANE_COLUMNS)."""
    code = F.expr("CASE kind " + " ".join(f"WHEN '{kind}' THEN {code}L" for kind, code in _CONTROL_CODES.items()) + " END")
    zero = F.lit(0).cast("bigint")
    given = {"epoch", "seq", "ts", "ns", "ingest_batch"}
    computed = {"type_code": F.coalesce(code, zero)}
    columns = [F.col(c) if c in given else computed.get(c, zero).alias(c) for c in LANE_COLUMNS]
    return control.select(F.col("broker_id").alias(LANE_KEY), *columns)
