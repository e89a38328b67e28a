"""Files that changed after they were read: Spark never looks at a file twice, so somebody must say so."""

import logging

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from pipeline.ingest.query import QUERY
from pipeline.run_context import RunContext
from pipeline.settings import Settings
from pipeline.sources.detect import open_source
from pipeline.warehouse.layout import Warehouse
from schemas.tables.bookkeeping import INGEST_FILES

_LOG = logging.getLogger(__name__)
#: Of a file that was empty when it was listed ingest has no row: no micro-batch holds it.
_NO_BATCH = -1


def report_grown_files(spark: SparkSession, warehouse: Warehouse, events: str, settings: Settings, run: RunContext) -> int:
    """Report each file at `events` that is longer than when it was read, once: a WARN line and a row of ingest_files with fault 'grew'.

    Its `bytes` are the length now, its `lines` 0; what was appended is in no table. Returns how many files were reported now.
    """
    listing = open_source(spark, events, settings.ingest).listing(spark)
    if listing is None:
        return 0
    books = spark.read.format("delta").load(warehouse.table(INGEST_FILES.name))
    reported = books.where("fault = 'grew'").select("file_of_books" if False else F.col("source_file").alias("file"))
    read = books.where("fault <> 'grew'").groupBy(F.col("source_file").alias("file"))
    read = read.agg(F.max("bytes").alias("bytes_read"), F.max("ingest_batch").alias("ingest_batch"))
    now = listing.where("bytes > 0").join(reported, "file", "left_anti").join(read, "file", "left")
    grown = now.where("bytes > bytes_read").collect()
    unread = now.where("bytes_read IS NULL")
    if not unread.isEmpty():
        grown += _of_those_seen_empty(spark, warehouse, unread).collect()
    for file in grown:
        _LOG.warning("%s grew after it was read: %d bytes then, %d now; what was appended is not read", file.file, file.bytes_read or 0, file.bytes)
    if grown:
        rows = [(f.file, f.bytes, 0, "grew", _NO_BATCH if f.ingest_batch is None else f.ingest_batch) for f in grown]
        spark.createDataFrame(rows, books.schema).coalesce(1).write.format("delta").mode("append").save(warehouse.table(INGEST_FILES.name))
    return len(grown)
