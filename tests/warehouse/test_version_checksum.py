"""The checksum beside a version: Delta finds in it what it computes from the log, and does without one that is damaged or gone."""

from pathlib import Path
from typing import Any

import pytest
from bronze_events import parsed_only, random_events
from pyspark.sql import SparkSession

from pipeline.ingest.bronze_files import BronzeFiles
from pipeline.store.open_tables import forget_table
from pipeline.store.table_log import opened
from pipeline.warehouse.append import append_files
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import create_missing_tables
from schemas.tables.bronze import DISPATCH_EVENTS


@pytest.fixture
def bronze(tmp_path: Path) -> str:
    """An empty dispatch_events."""
    warehouse = Warehouse(f"file:{tmp_path / 'warehouse'}")
    create_missing_tables(warehouse)
    return warehouse.table(DISPATCH_EVENTS.name)


def append(bronze: str, number: int) -> None:
    files = BronzeFiles(bronze, number, f"run-{number}")
    for batch in parsed_only(random_events(number, 20)).combine_chunks().to_batches():
        files.add(batch)
    append_files(bronze, DISPATCH_EVENTS, list(files.close()), ("app", number))


def checksums(bronze: str) -> list[str]:
    return sorted(path.name for path in Path(bronze.removeprefix("file:"), "_delta_log").glob("0*.crc"))


def snapshot(spark: SparkSession, bronze: str) -> Any:
    """Delta's own look at the table as it is now."""
    delta: Any = spark._jvm.org.apache.spark.sql.delta  # type: ignore[union-attr]  # None before Spark starts; it has
    delta.DeltaLog.clearCache()
    return delta.DeltaLog.forTable(spark._jsparkSession, bronze).unsafeVolatileSnapshot()


def test_delta_finds_in_it_what_it_computes(spark: SparkSession, bronze: str) -> None:
    for number in range(3):
        append(bronze, number)
    assert checksums(bronze) == [f"{3:020}.crc"]
    found = snapshot(spark, bronze)
    assert found.version() == 3
    assert found.checksumOpt().isDefined()
    assert found.validateChecksum(getattr(found, "validateChecksum$default$1")())
    columns = found.metadata().schemaString()
    Path(bronze.removeprefix("file:"), "_delta_log", f"{3:020}.crc").unlink()
    computed = snapshot(spark, bronze)
    assert not computed.checksumOpt().isDefined()
    assert (computed.metadata().schemaString(), computed.protocol()) == (columns, found.protocol())
    assert computed.metadata().equals(found.metadata())


def test_somebody_else_commits_in_between(spark: SparkSession, bronze: str) -> None:
    append(bronze, 0)
    opened(bronze).optimize.compact()
    opened(bronze).alter.set_table_properties({"delta.checkpointInterval": "40"})
    append(bronze, 1)
    newest = opened(bronze).version()
    assert checksums(bronze)[-1] == f"{newest:020}.crc"
    found = snapshot(spark, bronze)
    assert found.validateChecksum(getattr(found, "validateChecksum$default$1")())
    assert found.metadata().configuration().apply("delta.checkpointInterval") == "40"


@pytest.mark.parametrize("text", ["", "{", '{"tableSizeBytes": 1}'])
def test_damage_is_no_matter(spark: SparkSession, bronze: str, text: str) -> None:
    append(bronze, 0)
    Path(bronze.removeprefix("file:"), "_delta_log", f"{1:020}.crc").write_text(text)
    forget_table(bronze)
    append(bronze, 1)
    Path(bronze.removeprefix("file:"), "_delta_log", f"{2:020}.crc").write_text(text)
    found = snapshot(spark, bronze)
    assert (found.version(), found.numOfFiles()) == (2, len(opened(bronze).file_uris()))
    assert spark.read.format("delta").load(bronze).count() == 40
