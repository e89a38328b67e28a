"""Spark cuts large files for several tasks. Every event is read once, however it cuts, whoever wrote the files."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bronze_events import random_events
from pyspark.sql import SparkSession

from pipeline.faults import BrokenInvariant
from pipeline.lanes import query
from pipeline.lanes.bronze_files import Split, _packets_of_splits, packets, row_groups_of
from pipeline.lanes.packet import PACKET, unpacked_rows
from schemas.lane_columns import COLUMN

EVENTS, SPLIT_BYTES = 4_000, 3_000


@pytest.fixture(scope="module")
def events() -> pa.Table:
    return random_events(8, EVENTS)


@pytest.mark.parametrize("row_group", [300, EVENTS])
@pytest.mark.parametrize("writer", ["pyarrow", "spark"])
def test_every_event_is_read_once(spark: SparkSession, tmp_path: Path, events: pa.Table, writer: str, row_group: int) -> None:
    if writer == "pyarrow":
        pq.write_table(events, tmp_path / "a.parquet", row_group_size=row_group)
    else:
        one = spark.createDataFrame(events).coalesce(1).write.option("parquet.block.size", 100 if row_group < EVENTS else 1 << 27)
        one.option("parquet.block.size.row.check.min", row_group).mode("append").parquet(str(tmp_path))
    for key, value in (("maxPartitionBytes", SPLIT_BYTES), ("openCostInBytes", 1)):
        spark.conf.set(f"spark.sql.files.{key}", value)
    try:
        bronze = spark.read.schema(spark.read.parquet(str(tmp_path)).schema).parquet(str(tmp_path))
        found = packets(bronze)
        tasks = found.rdd.getNumPartitions()
        rows = [row for packet in found.collect() for row in unpacked_rows(packet[PACKET])]
    finally:
        for key in ("maxPartitionBytes", "openCostInBytes"):
            spark.conf.unset(f"spark.sql.files.{key}")
    assert sorted(int(row[COLUMN["seq"]]) for row in rows) == sorted(events["seq"].to_pylist())
    assert tasks > 3


def test_a_disagreement_with_spark_stops_the_task(tmp_path: Path, events: pa.Table) -> None:
    pq.write_table(events, tmp_path / "a.parquet")
    whole = Split((tmp_path / "a.parquet").as_uri(), 0, (tmp_path / "a.parquet").stat().st_size)

    def named(rows: int) -> Iterator[pa.RecordBatch]:
        for part in (rows - 7, 7):
            columns = [pa.array([value] * part) for value in whole]
            yield pa.RecordBatch.from_arrays(columns, names=list(Split._fields))

    assert sum(len(unpacked_rows(p)) for batch in _packets_of_splits(named(EVENTS)) for p in batch[PACKET].to_pylist()) == EVENTS
    for rows in (EVENTS - 1, EVENTS + 1):
        with pytest.raises(BrokenInvariant, match=r"row groups of .*a\.parquet"):
            list(_packets_of_splits(named(rows)))


def test_a_split_without_the_middle_of_a_row_group_has_none(tmp_path: Path, events: pa.Table) -> None:
    pq.write_table(events, tmp_path / "a.parquet", row_group_size=EVENTS)
    uri, size = (tmp_path / "a.parquet").as_uri(), (tmp_path / "a.parquet").stat().st_size
    assert row_groups_of(Split(uri, 0, size // 4)) == ([], 0)
    assert row_groups_of(Split(uri, size // 4, size)) == ([0], EVENTS)


@pytest.mark.parametrize("before", [None, "12345"])
def test_only_the_lanes_query_shares_files_out_by_bytes(spark: SparkSession, before: str | None) -> None:
    usual = spark.conf.get(query._OPENING)
    if before is not None:
        spark.conf.set(query._OPENING, before)
    try:
        with query._files_shared_out_by_bytes(spark):
            assert spark.conf.get(query._OPENING) == str(query._OPENING_BYTES)
        assert spark.conf.get(query._OPENING) == (before or usual)
    finally:
        spark.conf.unset(query._OPENING)
