"""Files that changed after they were read: Spark never looks at a file twice, so somebody must say so."""

import logging

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from pipeline.ingest.query import QUERY
from pipeline.ingest.source_log import NOTHING, files_until, finished_until
from pipeline.run_context import RunContext
from pipeline.settings import Settings
from pipeline.sources.detect import open_source
from pipeline.warehouse.layout import Warehouse
from schemas.render.spark import struct
from schemas.tables.bookkeeping import INGEST_FILES

_LOG = logging.getLogger(__name__)
#: Of a file that was empty when it was listed there is no row: no micro-batch read it.
_NO_BATCH = -1


def report_grown_files(spark: SparkSession, warehouse: Warehouse, events: str, settings: Settings, run: RunContext) -> int:
    """Report each file at `events` that is longer than when it was read, once: a WARN line and a row of ingest_files with fault 'grew'.

    Its `bytes` are the length now, its `lines` 0; what was appended is in no table. May run beside the ingest query. Returns how many
    files were reported now.
    """
    listing = open_source(spark, events, settings.ingest).listing(spark)
    if listing is None:
        return 0
    # Before the books: what was committed before they are read is in them.
    finished = finished_until(spark, warehouse, QUERY)
    books = spark.read.format("delta").load(warehouse.table(INGEST_FILES.name)).withColumnRenamed("source_file", "file")
    read = (
        books.where("fault <> 'grew'").groupBy("file").agg(F.max("bytes").alias("bytes_read"), F.max("ingest_batch").alias("ingest_batch"))
    )
    now = listing.where("bytes > 0").join(books.where("fault = 'grew'"), "file", "left_anti").join(read, "file", "left")
    grown = now.where("bytes > bytes_read").collect()
    unread = now.where("bytes_read IS NULL")
    # Of a file that was empty only Spark's log knows that it was seen: no query was handed it.
    if finished != NOTHING and (new := unread.collect()):
        seen = files_until(spark, warehouse, QUERY, finished)
        grown += [file for file in new if file.file in seen]
    for file in grown:
        _LOG.warning(
            "%s grew after it was read: %d bytes then, %d now; what was appended is not read", file.file, file.bytes_read or 0, file.bytes
        )
    if grown:
        rows = [(f.file, f.bytes, 0, "grew", _NO_BATCH if f.ingest_batch is None else f.ingest_batch) for f in grown]
        frame = spark.createDataFrame(rows, struct(INGEST_FILES.fields)).coalesce(1)
        frame.write.format("delta").mode("append").save(warehouse.table(INGEST_FILES.name))
    return len(grown)
