"""Runs the ingest query over what lies in a folder, into a warehouse of its own."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.streaming import StreamingQuery

from pipeline.ingest.files import report_grown_files
from pipeline.ingest.query import start_ingest
from pipeline.run_context import RunContext
from pipeline.settings import Settings, default_settings
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import create_missing_tables

RUN = RunContext("run", "0", lambda: datetime(2026, 1, 2, tzinfo=UTC), lambda: None, lambda _: None)


@dataclass(frozen=True)
class Ingest:
    """A warehouse, and what ingest reads into it."""

    spark: SparkSession
    warehouse: Warehouse
    events: str
    settings: Settings

    def run(self) -> "Ingest":
        """Read what is there and is new."""
        start_ingest(self.spark, self.warehouse, self.events, self.settings, RUN, {"availableNow": True}).awaitTermination()
        return self

    def live(self) -> StreamingQuery:
        """A query that reads on and on, without a pause."""
        return start_ingest(self.spark, self.warehouse, self.events, self.settings, RUN, {"processingTime": "0 seconds"})

    def report_grown(self) -> int:
        """How many files have grown since they were read."""
        return report_grown_files(self.warehouse, self.events, self.settings, RUN)

    def table(self, name: str) -> DataFrame:
        """A table as it is now."""
        return self.spark.read.format("delta").load(self.warehouse.table(name))

    def rows(self, name: str, *columns: str) -> list[Row]:
        """Columns of a table, sorted."""
        return sorted(self.table(name).select(*columns).collect(), key=str)

    def lose_last_commit(self) -> None:
        """Make Spark run its last micro-batch again, as after a crash before the end of it."""
        commits = Path(self.warehouse.checkpoint("ingest")) / "commits"
        last = max(int(path.name) for path in commits.iterdir() if path.name.isdigit())
        (commits / str(last)).unlink()
        (commits / f".{last}.crc").unlink(missing_ok=True)


@pytest.fixture(scope="session")
def empty_tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse that nothing was written into; a copy of it costs less than making the tables."""
    root = tmp_path_factory.mktemp("empty")
    create_missing_tables(Warehouse(str(root)))
    return root


@pytest.fixture
def every_second_log_file_is_compacted(spark: SparkSession) -> Iterator[None]:
    """Of the file source's log in the checkpoint: by default it is every tenth, which a test would not live to see."""
    interval = "spark.sql.streaming.fileSource.log.compactInterval"
    spark.conf.set(interval, "2")
    yield
    spark.conf.unset(interval)


@pytest.fixture
def ingest_into(spark: SparkSession, warehouse: Warehouse, empty_tables: Path) -> Callable[[str | Path], Ingest]:
    """Call it with --events: an ingest of it into an empty warehouse."""

    def into(events: str | Path) -> Ingest:
        shutil.copytree(empty_tables, warehouse.root)
        return Ingest(spark, warehouse, str(events), default_settings())

    return into
