"""Bronze and control rows to lane rows, in Spark's SQL: int64 columns without nulls (schemas/lane_columns.py).

Lanes read events this way that are in no packet of this version's layout: of a version before, written by Spark, or put back from
quarantine. A backfill reads stretches of bronze this way.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas.arrival import ARRIVAL_SQL
from schemas.events import CODES, DRAIN_CODE, TOMBSTONE_CODE
from schemas.lane_columns import (
    COMPUTED_FIELDS,
    ENUM_SLOTS,
    LANE_COLUMNS,
    LANE_KEY,
    LAYOUT,
    PACKED_BITS,
    PACKED_LEAST,
    PACKED_MOST,
    PACKED_OFFSET,
    PACKET,
    QUESTIONS,
    ROW,
    SETTINGS,
    SLOT_FIELDS,
    SLOTS,
    START_SETTINGS,
)
from schemas.tables.bronze import LANE_LAYOUT, LANE_PACKET

#: Stretches of epochs, as `replayed_rows` wants them.
WANTED = f"{LANE_KEY} bigint, epoch bigint, first_seq bigint, last_seq bigint"
_CONTROL_CODES = {"drain": DRAIN_CODE, "tombstone": TOMBSTONE_CODE}


def slot_value(field: str) -> str:
    """SQL of one payload field as a long; null where the event does not have it."""
    if field in COMPUTED_FIELDS:
        return COMPUTED_FIELDS[field]
    source, _, key = field.partition(".")
    if source == "settings":
        return _setting(SETTINGS[key], f"try_element_at(settings, '{key}')")
    if source == "setting":
        return f"if(`key` = '{key}', {_setting(SETTINGS[key], 'value')}, null)"
    if field in START_SETTINGS:
        first, second = (_packed(kind, f"try_element_at(settings, '{key}')") for key, kind in START_SETTINGS[field].items())
        return f"{first} * {2**PACKED_BITS}L + {second}"
    if field in ENUM_SLOTS:
        branches = " ".join(f"WHEN '{text}' THEN {number}L" for number, text in enumerate(ENUM_SLOTS[field]))
        return f"CASE {field} {branches} END"
    return f"cast({field} AS bigint)"


def _setting(kind: str, text: str) -> str:
    """A configuration value as a number; a flag as Java reads a boolean: true in any case of letters."""
    if kind == "integer":
        return f"try_cast(trim({text}) AS bigint)"
    return f"if({text} IS NULL, null, if(lower({text}) = 'true', 1L, 0L))"


def _packed(kind: str, text: str) -> str:
    """A configuration value as half of a slot."""
    value = _setting(kind, text)
    # Asked for first: least and greatest pass over a null.
    return f"if({value} IS NULL, 0L, greatest(least({value}, {PACKED_MOST}L), {PACKED_LEAST}L) + {PACKED_OFFSET}L)"


def _by_type(values: dict[str, str], otherwise: str) -> str:
    """CASE over the type code; types with the same value share a branch."""
    types_of: dict[str, list[int]] = {}
    for event_type, value in values.items():
        types_of.setdefault(value, []).append(CODES[event_type])
    branches = " ".join(f"WHEN type_code IN ({', '.join(map(str, codes))}) THEN {value}" for value, codes in types_of.items())
    return f"CASE {branches} ELSE {otherwise} END" if branches else otherwise


def _slot(position: int) -> Column:
    values = {event_type: slot_value(fields[position]) for event_type, fields in SLOT_FIELDS.items() if position < len(fields)}
    return F.expr(f"coalesce({_by_type(values, 'null')}, 0L)").alias(f"s{position}")


def _mask() -> Column:
    values = {
        event_type: " + ".join(
            [
                *(f"if(({slot_value(field)}) IS NULL, 0L, {1 << slot}L)" for slot, field in enumerate(fields)),
                *(f"if({question}, {1 << (SLOTS + k)}L, 0L)" for k, question in enumerate(QUESTIONS.get(event_type, {}).values())),
            ]
        )
        for event_type, fields in SLOT_FIELDS.items()
    }
    return F.expr(_by_type(values, "0L")).alias("mask")


def in_packets() -> Column:
    """Of a row of `dispatch_events`: whether the event is in a packet that lanes can open."""
    return F.col(LANE_LAYOUT).eqNullSafe(LAYOUT)


def packets(bronze: DataFrame) -> DataFrame:
    """The packets in `dispatch_events` rows as lanes are handed them: (lane, packet, no row)."""
    kept = bronze.where(in_packets() & F.col(LANE_PACKET).isNotNull())
    return kept.select(F.col("broker_id").alias(LANE_KEY), F.col(LANE_PACKET).alias(PACKET), _no_row().alias(ROW))


def packets_or_rows(bronze: DataFrame) -> DataFrame:
    """`dispatch_events` rows as lanes are handed them: the packets, and each event that is in none as a row.

    In one pass: two over one table would be two sources to Spark, and a query must keep the sources that it began with.
    """
    kept = bronze.where(~in_packets() | F.col(LANE_PACKET).isNotNull())
    packet = F.when(in_packets(), F.col(LANE_PACKET)).otherwise(F.lit(b""))
    row = F.when(in_packets(), _no_row()).otherwise(F.array(*_bronze_columns()))
    return kept.select(F.col("broker_id").alias(LANE_KEY), packet.alias(PACKET), row.alias(ROW))


def _no_row() -> Column:
    return F.expr("cast(array() AS array<bigint>)")


def packets_hold_every_event(bronze: DataFrame) -> bool:
    """Whether packets hold as many events as there are rows in packets: no row of `dispatch_events` was deleted alone."""
    counted = F.expr(f"cast(conv(hex(substring({LANE_PACKET}, 1, 8)), 16, 10) AS bigint)")
    (row,) = bronze.where(in_packets()).agg(F.count("*").alias("rows"), F.coalesce(F.sum(counted), F.lit(0)).alias("events")).collect()
    return bool(row.rows == row.events)


def handed(rows: DataFrame) -> DataFrame:
    """Rows of (lane, LANE_COLUMNS) as lanes are handed them: (lane, no packet, row). Each column of a group costs Python a conversion."""
    return rows.select(LANE_KEY, F.lit(b"").alias(PACKET), F.array(*LANE_COLUMNS).alias(ROW))


def bronze_lane_rows(bronze: DataFrame) -> DataFrame:
    """`dispatch_events` rows to (lane, LANE_COLUMNS)."""
    return bronze.select(F.col("broker_id").alias(LANE_KEY), *_bronze_columns())


def _bronze_columns() -> list[Column]:
    """LANE_COLUMNS of a row of `dispatch_events`."""
    computed = {
        "ns": F.expr("coalesce(ns, ts * 1000L)").alias("ns"),
        "type_code": F.col("type_code").cast("bigint").alias("type_code"),
        "arrival": F.expr(ARRIVAL_SQL).alias("arrival"),
    }
    computed |= {"mask": _mask(), **{f"s{position}": _slot(position) for position in range(SLOTS)}}
    return [computed.get(name, F.col(name)) for name in LANE_COLUMNS]


def control_lane_rows(control: DataFrame) -> DataFrame:
    """`lane_control` rows to (lane, LANE_COLUMNS)."""
    code = F.expr("CASE kind " + " ".join(f"WHEN '{kind}' THEN {code}L" for kind, code in _CONTROL_CODES.items()) + " END")
    zero = F.lit(0).cast("bigint")
    given = {"epoch", "seq", "ts", "ns", "ingest_batch"}
    computed = {"type_code": F.coalesce(code, zero)}
    columns = [F.col(c) if c in given else computed.get(c, zero).alias(c) for c in LANE_COLUMNS]
    return control.select(F.col("broker_id").alias(LANE_KEY), *columns)


def replayed_rows(bronze: DataFrame, control: DataFrame, wanted: DataFrame) -> DataFrame:
    """(lane, LANE_COLUMNS) of stretches of epochs, each epoch whole in one partition, there sorted by lane, epoch and `seq`.

    `wanted` has the columns WANTED. Of repeats the one that counts comes first.
    """
    rows = bronze_lane_rows(bronze).unionByName(control_lane_rows(control.where("kind = 'tombstone'")))
    stretches = rows.join(F.broadcast(wanted), [LANE_KEY, "epoch"]).where("seq BETWEEN first_seq AND last_seq")
    # as in a lane: an event before a tombstone, the earlier ingest batch before the later, the earlier arrival before the later
    first = (F.col("type_code") == TOMBSTONE_CODE, "ingest_batch", "arrival")
    whole = stretches.drop("first_seq", "last_seq").repartition(LANE_KEY, "epoch")
    return whole.sortWithinPartitions(LANE_KEY, "epoch", "seq", *first)
