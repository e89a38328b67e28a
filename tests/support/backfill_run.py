"""Runs `backfill` in the test session, and what is asked of a warehouse after it."""

import argparse
from typing import Any

from invariants_run import broken_invariants
from lane_tables import Table
from pyspark.sql import SparkSession

from console.chosen_tables import chosen_tables
from jobs.backfill import add_arguments, run_backfill, text_lines
from pipeline.query.room import ReadingRoom
from pipeline.repair.backfill.slices import SWAPPED_TABLES
from pipeline.settings import load_settings
from pipeline.warehouse.layout import Warehouse

SWAPPED = [table.name for table in SWAPPED_TABLES]


def run_backfill_command(spark: SparkSession, warehouse: Warehouse, *arguments: str) -> dict[str, Any]:
    """`backfill` in this session: its document."""
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    args = parser.parse_args(["--warehouse", warehouse.root, *arguments])
    document = run_backfill(spark, warehouse, load_settings(None, [], {}), args, chosen_tables(args.tables, SWAPPED))
    assert list(text_lines(document))
    return document


def computed(tables: dict[str, Table]) -> dict[str, Table]:
    """What is computed from the log; not what tells when events came, and what was asked of lanes."""
    return {name: tables[name] for name in SWAPPED}


def unsound(warehouse: Warehouse) -> dict[str, Any]:
    """Invariants that are broken, each with a row that breaks it; `log_health`: a broker of whose log something seems to be awaited."""
    awaited = ReadingRoom(warehouse, consistent=True).rows("SELECT * FROM log_health WHERE awaited <> 0 OR late <> 0 OR lost_events <> 0")
    return broken_invariants(warehouse) | ({"log_health": awaited[0]} if awaited else {})


def without_states(tables: dict[str, Table]) -> dict[str, Table]:
    """Ids are hashed otherwise in the pure lane of the tests, and are in states."""
    milestones = [{name: row[name] for name in ("milestone", "event_date", "next_seq")} for row in tables["lane_snapshots"]]
    return {**tables, "lane_snapshots": milestones}
