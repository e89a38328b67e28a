"""The job as a child process that is killed at a point, and started again; and what its tables hold, as multisets, without Spark."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from quick_start import environment

from pipeline.store.arrow_reader import arrow_rows
from pipeline.store.table_log import newest_version_at
from pipeline.warehouse.layout import Warehouse
from schemas.tables import TABLES, WATCH_TABLES

ROOT = Path(__file__).parents[2]
CHILD = Path(__file__).with_name("child.py")
#: Far beyond what a busy machine needs for one start with a few small micro-batches.
PATIENCE_S = 240.0
#: By the clock, by the run, by how often a query was started, or by which task had which file: never alike in two runs.
VOLATILE = frozenset({
    "quarantined_at", "issued_at", "written_at", "run_id", "query_id", "table_versions", "source_offsets", "state_bytes", "lane_packet",
})  # fmt: skip
#: Of a micro-batch of lanes: how bronze was cut into them is not the same in two runs, what they add up to is.
LANE_COUNTS = ("rows_in", "quarantined", "applied", "duplicates", "late", "held", "lost")
Rows = Counter[tuple[Any, ...]]


@dataclass(frozen=True)
class Run:
    """How one start of the job ended, and after how long its first micro-batch was whole (None: none was)."""

    code: int
    first_batch_s: float | None


def run_child(point: str, events: Path | str, warehouse: Warehouse, log: Path, *more: str) -> Run:
    """`stream --once` until its end. A job that does not end within PATIENCE_S fails the test."""
    settings = ("--once", "--set", "ingest.max_files_per_batch=1")
    return run_command(point, warehouse, log, "stream", "--events", str(events), "--warehouse", warehouse.root, *settings, *more)


def run_command(point: str, warehouse: Warehouse, log: Path, *arguments: str) -> Run:
    """Any command, likewise."""
    began, before = time.monotonic(), manifests(warehouse)
    command = [sys.executable, str(CHILD), point, *arguments]
    environ = environment()
    first: float | None = None
    with log.open("ab") as output:
        child = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=output, stderr=output, start_new_session=True)
        try:
            while child.poll() is None and time.monotonic() - began < PATIENCE_S:
                if first is None and manifests(warehouse) > before:
                    first = time.monotonic() - began
                time.sleep(0.02)
        finally:
            ended = child.poll()
            if ended is None:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
    if ended is None:
        pytest.fail(f"killed at '{point}': the job did not end within {PATIENCE_S:.0f} s; its output:\n{log.read_text()}", pytrace=False)
    return Run(child.returncode, first)


def manifests(warehouse: Warehouse) -> int:
    """Versions of batch_manifest, the one that made it included."""
    return newest_version_at(warehouse.table("batch_manifest")) + 1


def tables_of_warehouse(warehouse: Warehouse, volatile: Set[str] = VOLATILE) -> dict[str, Rows]:
    """Every table but those that tell of runs, as a multiset of rows without `volatile` columns; of lanes' micro-batches their sums."""
    told = {"batch_manifest", *(table.name for table in WATCH_TABLES)}
    tables = {table.name: Counter(_rows(warehouse, table.name, volatile)) for table in TABLES if table.name not in told}
    manifest = arrow_rows(warehouse.table("batch_manifest")).to_pylist()
    ingest = [(row["batch_id"], row["rows_in"], row["bronze"], row["quarantined"]) for row in manifest if row["query"] == "ingest"]
    lanes = [tuple(sum(row[name] for row in manifest if row["query"] == "lanes") for name in LANE_COUNTS)]
    return tables | {"batch_manifest": Counter([*ingest, *lanes])}


def _rows(warehouse: Warehouse, table: str, volatile: Set[str]) -> Iterator[tuple[Any, ...]]:
    rows = arrow_rows(warehouse.table(table)).to_pylist()
    if table == "lane_control":
        # Each start with --drain ends the log, also one that stops before lanes hear of it.
        ended = {row["broker_id"]: row for row in rows if row["kind"] == "drain"}
        rows = [*ended.values(), *(row for row in rows if row["kind"] != "drain")]
    for row in rows:
        if "source_file" in row:
            row["source_file"] = Path(row["source_file"]).name  # the folders of two runs differ
        yield tuple(str(row[name]) for name in sorted(row.keys() - volatile))


def differences(found: dict[str, Rows], wanted: dict[str, Rows]) -> dict[str, tuple[int, int]]:
    """Table → (rows that are missing, rows too many), for tables that differ."""
    assert found.keys() == wanted.keys()
    return {
        table: ((wanted[table] - found[table]).total(), (found[table] - wanted[table]).total())
        for table in wanted
        if found[table] != wanted[table]
    }
