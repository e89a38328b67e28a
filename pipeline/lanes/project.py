"""Bronze and control rows to lane rows, in Spark's SQL: int64 columns without nulls (schemas/lane_columns.py).

Lanes read bronze this way where tasks cannot open its files (bronze_files.py); a backfill reads stretches of it this way.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pipeline.lanes.packet import PACKET
from schemas.events import CODES, DRAIN_CODE, HOLD_CODE, RELEASE_CODE, SEED_CODE, TOMBSTONE_CODE
from schemas.lane_columns import (
    COMPUTED_FIELDS,
    ENUM_SLOTS,
    LANE_COLUMNS,
    LANE_KEY,
    PACKED_BITS,
    PACKED_LEAST,
    PACKED_MOST,
    PACKED_OFFSET,
    QUESTIONS,
    SETTINGS,
    SLOT_FIELDS,
    SLOTS,
    START_SETTINGS,
)

#: Stretches of epochs, as `replayed_rows` wants them.
WANTED = f"{LANE_KEY} bigint, epoch bigint, first_seq bigint, last_seq bigint"
_CONTROL_CODES = {"drain": DRAIN_CODE, "tombstone": TOMBSTONE_CODE, "hold": HOLD_CODE, "seed": SEED_CODE, "release": RELEASE_CODE}


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


def lane_input(rows: DataFrame) -> DataFrame:
    """Rows of (lane, LANE_COLUMNS), or packets (PACKET_TYPE), with all columns that a lane is handed; what they lack is 0, or no packet."""
    zero, nothing = F.lit(0).cast("bigint"), F.lit(b"")
    lacking = {name: (nothing if name == PACKET else zero) for name in (*LANE_COLUMNS, PACKET) if name not in rows.columns}
    return rows.withColumns(lacking).select(LANE_KEY, *LANE_COLUMNS, PACKET)


def bronze_lane_rows(bronze: DataFrame) -> DataFrame:
    """`dispatch_events` rows to (lane, LANE_COLUMNS)."""
    return bronze.select(
        F.col("broker_id").alias(LANE_KEY),
        "epoch",
        "seq",
        "ts",
        F.expr("coalesce(ns, ts * 1000L)").alias("ns"),
        F.col("type_code").cast("bigint").alias("type_code"),
        "ingest_batch",
        "topic_id",
        "sub_id",
        _mask(),
        *(_slot(position) for position in range(SLOTS)),
    )


def control_lane_rows(control: DataFrame) -> DataFrame:
    """`lane_control` rows to (lane, LANE_COLUMNS). The 80 bytes of a part of a seed are the slots, each of 8 bytes, the highest first."""
    code = F.expr("CASE kind " + " ".join(f"WHEN '{kind}' THEN {code}L" for kind, code in _CONTROL_CODES.items()) + " END")
    zero = F.lit(0).cast("bigint")
    given = {"epoch", "seq", "ts", "ns", "ingest_batch"}
    words = {f"s{k}": F.expr(f"coalesce(cast(conv(hex(substring(state, {8 * k + 1}, 8)), 16, -10) AS bigint), 0L)") for k in range(SLOTS)}
    computed = {"type_code": F.coalesce(code, zero), **words}
    columns = [F.col(c) if c in given else computed.get(c, zero).alias(c) for c in LANE_COLUMNS]
    return control.select(F.col("broker_id").alias(LANE_KEY), *columns)


def replayed_rows(bronze: DataFrame, control: DataFrame, wanted: DataFrame) -> DataFrame:
    """(lane, LANE_COLUMNS) of stretches of epochs, each epoch whole in one partition, there sorted by lane, epoch and `seq`.

    `wanted` has the columns WANTED. Of repeats the one that counts comes first.
    """
    rows = bronze_lane_rows(bronze).unionByName(control_lane_rows(control.where("kind = 'tombstone'")))
    stretches = rows.join(F.broadcast(wanted), [LANE_KEY, "epoch"]).where("seq BETWEEN first_seq AND last_seq")
    # as in a lane: an event before a tombstone, the earlier ingest batch before the later
    first = (F.col("type_code") == TOMBSTONE_CODE, "ingest_batch")
    whole = stretches.drop("first_seq", "last_seq").repartition(LANE_KEY, "epoch")
    return whole.sortWithinPartitions(LANE_KEY, "epoch", "seq", *first)
