"""Files, bytes and rows of every table, from Delta's own log: no data file is opened."""

from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipeline.warehouse import delta_log
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.look import TableFacts
from pipeline.warehouse.small_tables import newest_version
from schemas.tables import TABLES


def existing_tables(spark: SparkSession, warehouse: Warehouse) -> list[str]:
    """Names of the declared tables that the warehouse has, in declared order."""
    return [table.name for table in TABLES if newest_version(spark, warehouse.table(table.name)) >= 0]


def all_table_facts(spark: SparkSession, warehouse: Warehouse, small_below: int) -> list[TableFacts]:
    """Facts of every existing table in declared order; a file of less than `small_below` bytes is small."""
    names = existing_tables(spark, warehouse)
    if not names:
        return []
    snapshots = {name: delta_log.live_files(spark, warehouse.table(name)) for name in names}
    files = reduce(DataFrame.unionByName, [_files_of(name, listed) for name, (_, listed) in snapshots.items()])
    counted = files.groupBy("table").agg(
        F.count("*").alias("files"),
        F.count_if(F.col("size") < small_below).alias("small_files"),
        F.sum("size").alias("bytes"),
        F.sum("rows").alias("rows"),
        F.count_if(F.col("rows").isNull()).alias("uncounted"),
    )
    found = {row["table"]: row for row in counted.collect()}
    facts = []
    for name, (version, _) in snapshots.items():
        written_at = delta_log.committed_at(spark, warehouse.table(name), version)
        if name in found:
            row = found[name]
            rows = None if row["uncounted"] else int(row["rows"])
            facts.append(TableFacts(name, version, written_at, row["files"], row["small_files"], row["bytes"], rows))
        else:
            facts.append(TableFacts(name, version, written_at, 0, 0, 0, 0))
    return facts


def _files_of(name: str, files: DataFrame) -> DataFrame:
    rows = F.get_json_object("stats", "$.numRecords").cast("long").alias("rows")
    return files.select(F.lit(name).alias("table"), "size", rows)
