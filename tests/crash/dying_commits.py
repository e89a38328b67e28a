"""Micro-batches that die before and after each of their commits, in process, and are run again each time.

Commits are made one after the other here, so every state is met that a death between two of them leaves.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession

import pipeline.ingest.micro_batch
import pipeline.ingest.query
import pipeline.lanes.query
import pipeline.warehouse.append
import pipeline.warehouse.append_frame
from pipeline.run_context import RunContext
from pipeline.settings import default_settings
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import create_missing_tables
from schemas.tables import LANE_TABLES

RUN = RunContext("run", "0", lambda: datetime(2026, 1, 2, tzinfo=UTC), lambda: None, lambda _: None)


class Died(Exception):
    """Stands for the end of the process."""


class Commits:
    """Watches commits of tables; lets the process die before or after one of them: nothing more is committed then."""

    def __init__(self) -> None:
        self.made: list[str] = []
        self.deaths = 0
        self._point: tuple[str, str] | None = None
        self._dead = False

    @contextmanager
    def dying(self, when: str, table: str) -> Iterator[None]:
        """Die `when` (before, after) the commit of `table`."""
        self._point, self._dead = (when, table), False
        try:
            yield
        finally:
            assert self._dead, f"no commit of {table} was made"
            self._point, self._dead = None, False

    def commit(self, path: str, write: Callable[[], object]) -> None:
        """In place of `write`, which commits to the table."""
        table = Path(path).name
        if self._dead or self._point == ("before", table):
            self._die()
        if write() is not False:  # it was appended before
            self.made.append(table)
        if self._point == ("after", table):
            self._die()

    def _die(self) -> None:
        self.deaths += not self._dead
        self._dead = True
        raise Died


def watched_commits(patch: pytest.MonkeyPatch) -> Commits:
    """Watches all commits, which come one after the other."""
    watched = Commits()
    real_write = pipeline.warehouse.append.write_deltalake

    def write(delta: DeltaTable, rows: Any, **options: Any) -> None:
        watched.commit(delta.table_uri, lambda: real_write(delta, rows, **options))

    real_files = pipeline.warehouse.append.append_files
    for module in (pipeline.ingest.micro_batch, pipeline.warehouse.append_frame):
        patch.setattr(module, "append_files", lambda folder, *rest: watched.commit(folder, lambda: real_files(folder, *rest)))
    patch.setattr(pipeline.warehouse.append, "write_deltalake", write)
    for module in (pipeline.ingest.micro_batch, pipeline.lanes.query):
        patch.setattr(module, "ThreadPoolExecutor", lambda _: ThreadPoolExecutor(1))
    return watched


def dies_everywhere(commits: Commits, tables: list[str], micro_batch: Callable[[], None]) -> None:
    """Run the micro-batch until it dies at the next point, again and again, and to its end."""
    for table in tables:
        for when in ("before", "after"):
            with commits.dying(when, table), pytest.raises(Died):
                micro_batch()
    micro_batch()


def ingest(spark: SparkSession, events: str, warehouse: Warehouse) -> None:
    """Everything in one micro-batch."""
    to_end = {"availableNow": True}
    pipeline.ingest.query.start_ingest(spark, warehouse, events, default_settings(), RUN, to_end).awaitTermination()


def lanes(spark: SparkSession, warehouse: Warehouse) -> None:
    """Likewise."""
    pipeline.lanes.query.start_lanes(spark, warehouse, default_settings(), RUN, {"availableNow": True}).awaitTermination()


@dataclass(frozen=True)
class Log:
    """A log's --events, and a warehouse for it."""

    events: str
    warehouse: Warehouse


def dies_at_every_commit(spark: SparkSession, patch: pytest.MonkeyPatch, undisturbed: Log, dying: Log) -> None:
    """Make both warehouses of the same files: the first as ever, the second by micro-batches that die wherever the first committed."""
    commits = watched_commits(patch)
    for one in (undisturbed, dying):
        create_missing_tables(one.warehouse)
    ingest(spark, undisturbed.events, undisturbed.warehouse)
    of_ingest = list(commits.made)
    lanes(spark, undisturbed.warehouse)
    of_lanes = commits.made[len(of_ingest) :]
    assert sorted(of_ingest) == sorted(["dispatch_events", "quarantine", "lane_control", "names", "ingest_files", "batch_manifest"])
    assert len(set(of_lanes) & {table.name for table in LANE_TABLES}) > 5
    assert of_lanes[-1] == of_ingest[-1] == "batch_manifest"

    real_ingest, real_writer = pipeline.ingest.query.ingest_micro_batch, pipeline.lanes.query._writer

    def dying_ingest(*arguments: Any) -> None:
        dies_everywhere(commits, of_ingest, lambda: real_ingest(*arguments))

    def dying_writer(*arguments: Any) -> Callable[[DataFrame, int], None]:
        write = real_writer(*arguments)
        # Lanes ran once, and their state waits for Spark's commit: here only the tables' writers run again.
        return lambda batch, number: (lambda rows: dies_everywhere(commits, of_lanes, lambda: write(rows, number)))(batch.localCheckpoint())

    patch.setattr(pipeline.ingest.query, "ingest_micro_batch", dying_ingest)
    patch.setattr(pipeline.lanes.query, "_writer", dying_writer)
    ingest(spark, dying.events, dying.warehouse)
    lanes(spark, dying.warehouse)
    assert commits.deaths == 2 * len(of_ingest + of_lanes) > 20
