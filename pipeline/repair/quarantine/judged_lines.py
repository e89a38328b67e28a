"""Rejected lines as the current parser judges them."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import pyarrow as pa
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from pipeline.faults import BadConfig
from pipeline.repair.quarantine.repaired_lines import RepairedLine
from pipeline.sources.parse.line import ParseLimits
from pipeline.sources.parse.second_parse import parse_again
from pipeline.warehouse.layout import Warehouse
from schemas.ids import US_PER_DAY
from schemas.render.spark import struct
from schemas.tables.bronze import PARSED_FIELDS, QUARANTINE, SEQ_TAKEN

#: Which row of quarantine; rows that were rejected twice alike (of tables, which have no line numbers) share it.
LINE_KEY = ("source_file", "source_line", "raw_sha256")
#: What becomes of a line: it is an event now; it is none; its text is not whole, so nobody knows; its micro-batch is not finished.
EVENT, REJECTED, CUT, UNFINISHED = "event", "rejected", "cut", "unfinished"
#: These lines are whole as text, perhaps; what was wrong was their file.
_FILE_ENDED = "truncated_file"

_NULLABLE_EVENT = StructType([StructField(f.name, f.dataType, True) for f in struct(PARSED_FIELDS)])
_LINES = StructType([*struct(QUARANTINE.fields), StructField("repaired_text", StringType()), StructField("text", StringType())])
_JUDGED = StructType(
    [*_LINES, StructField("new_reason", StringType()), StructField("new_detail", StringType()), StructField("event", _NULLABLE_EVENT)]
)
Batches = Iterator[pa.RecordBatch]


def judged_lines(
    spark: SparkSession,
    warehouse: Warehouse,
    limits: ParseLimits,
    where: str | None,
    repaired: Sequence[RepairedLine] | None,
    newest_whole: int,
) -> DataFrame:
    """Rows of quarantine that keep `where` (SQL on its columns), with repaired_text, new_reason, new_detail, event and `state`.

    Not those of the reason seq_taken, which are events.

    With `repaired` only the lines that it names, with the text that it gives; a line without one is parsed as quarantine has it, if it has
    all of it. Micro-batches of ingest beyond `newest_whole` are not finished. Raises BadConfig for a `where` that is none.
    """
    # What is in dispatch_events as well needs not be put back there.
    lines = spark.read.format("delta").load(warehouse.table(QUARANTINE.name)).where(F.col("reason") != SEQ_TAKEN)
    if where is not None:
        try:
            lines = lines.where(where)
            lines.schema  # noqa: B018 - asks Spark to look at the condition now
        except (AnalysisException, ParseException) as refused:
            raise BadConfig(f"--where {where}: {str(refused).strip().splitlines()[0]}") from refused
    lines = _with_repaired(spark, lines, repaired).withColumn("text", F.coalesce("repaired_text", _own_text()))
    judged = lines.select(*_LINES.names).mapInArrow(_parser(limits), _JUDGED)
    return judged.withColumn("state", _state(newest_whole))


def _with_repaired(spark: SparkSession, lines: DataFrame, repaired: Sequence[RepairedLine] | None) -> DataFrame:
    if repaired is None:
        return lines.withColumn("repaired_text", F.lit(None).cast("string"))
    rows = [(line.source_file, line.source_line, line.raw_sha256, line.text) for line in repaired]
    given = spark.createDataFrame(rows, "source_file string, source_line bigint, raw_sha256 string, repaired_text string")
    same = [F.coalesce(lines[key], F.lit("")) == given[key] if key == "source_file" else lines[key] == given[key] for key in LINE_KEY]
    return lines.join(F.broadcast(given), same).select(*(lines[name] for name in QUARANTINE.names), given["repaired_text"])


def _own_text() -> Column:
    """The line as it was rejected; null if quarantine has only its beginning, or bytes of it as U+FFFD, or its file ended in it."""
    is_whole = (F.col("reason") != _FILE_ENDED) & (F.sha2(F.encode("raw", "UTF-8"), 256) == F.col("raw_sha256"))
    return F.when(is_whole, F.col("raw"))


def _state(newest_whole: int) -> Column:
    return (
        F.when(F.col("ingest_batch") > newest_whole, UNFINISHED)
        .when(F.col("text").isNull(), CUT)
        .when(F.col("event").isNotNull(), EVENT)
        .otherwise(REJECTED)
    )


def _parser(limits: ParseLimits) -> Callable[[Batches], Batches]:
    def parse(batches: Batches) -> Batches:
        yield from map(partial(parse_again, limits=limits), batches)

    return parse


def event_date() -> Column:
    """UTC date of `ts` (µs, not before 1970), whatever the session's time zone is."""
    return F.date_from_unix_date(F.expr(f"cast(ts div {US_PER_DAY} as int)"))
