"""Which of Spark's writers of checkpoints a query gets: the warehouse decides, not the one before it in the same session."""

import pytest
from pyspark.sql import SparkSession

from pipeline.session_settings import setting
from pipeline.warehouse.checkpoint import write_checkpoints_quickly
from pipeline.warehouse.layout import Warehouse

KEY = "spark.sql.streaming.checkpointFileManagerClass"


@pytest.mark.parametrize(
    ("root", "writer"),
    [("file:/w", "FileSystemBasedCheckpointFileManager"), ("s3a://b/w", "AbortableStreamBasedCheckpointFileManager"), ("hdfs://n/w", None)],
)
def test_the_warehouse_decides(spark: SparkSession, root: str, writer: str | None) -> None:
    with setting(spark, KEY, "of an earlier warehouse"):
        write_checkpoints_quickly(spark, Warehouse(root))
        chosen = spark.conf.get(KEY, None)
    assert (chosen and chosen.rpartition(".")[2]) == writer
