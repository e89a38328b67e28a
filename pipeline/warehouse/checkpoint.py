"""A query's checkpoint folder, as a session of Spark reads it and lets its queries write it."""

from pyspark.sql import SparkSession

from pipeline.store.address import local_path
from pipeline.store.files import files_at
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.offsets import Checkpoint, checkpoint_in, entry_in

_FILE_MANAGER = "spark.sql.streaming.checkpointFileManagerClass"
#: It makes a file under another name and renames it, too; what it lacks is a promise that two writers cannot both win, and there is one.
_QUICK_FILE_MANAGER = "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"


#: It uploads a file once, where the default makes it under another name, copies and deletes it: a third of the state's time in S3.
_S3_FILE_MANAGER = "org.apache.spark.internal.io.cloud.AbortableStreamBasedCheckpointFileManager"


def write_checkpoints_quickly(spark: SparkSession, warehouse: Warehouse) -> None:
    """Let the queries that this session starts write their checkpoints quickly: on this machine in milliseconds, in S3 without copies.

    Spark's default writer starts twenty processes for each local file (chmod and the like), 50-80 ms; a micro-batch writes eight.
    Elsewhere the default writes them.
    """
    if local_path(warehouse.root) is not None:
        spark.conf.set(_FILE_MANAGER, _QUICK_FILE_MANAGER)
    elif warehouse.root.startswith("s3a:"):
        spark.conf.set(_FILE_MANAGER, _S3_FILE_MANAGER)
    else:
        # What an earlier warehouse of this session set: HDFS can do neither.
        spark.conf.unset(_FILE_MANAGER)


def read_checkpoint(warehouse: Warehouse, query: str) -> Checkpoint:
    """The checkpoint of `query`; empty where there is none."""
    return checkpoint_in(files_at(warehouse.root), warehouse, query)


def offset_entry(warehouse: Warehouse, query: str, batch_id: int | None) -> str | None:
    """Spark's offset log entry of a micro-batch, whole; None if Spark has none of it, or keeps it no more (of None: no micro-batch)."""
    return entry_in(files_at(warehouse.root), warehouse, query, batch_id)
