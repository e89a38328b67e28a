"""Runs `backfill` in the test session, and what is asked of a warehouse after it."""

import argparse
from datetime import UTC, datetime
from typing import Any

from lane_tables import Table
from pyspark.sql import SparkSession

from jobs.backfill import add_arguments, run_backfill, text_lines
from jobs.chosen_tables import chosen_tables
from pipeline.backfill.slices import SWAPPED_TABLES
from pipeline.quality.judge import judge_law
from pipeline.quality.laws import LAWS
from pipeline.quality.validation import Validation
from pipeline.reading.by_spark import SparkLook
from pipeline.settings import load_settings
from pipeline.views.register import register
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.newest_cut import newest_cut

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


def broken_laws(spark: SparkSession, warehouse: Warehouse) -> list[str]:
    """Of the newest consistent cut, which has to show the backfill; and brokers of whose log something seems to be awaited."""
    session = spark.newSession()
    register(session, warehouse, newest_cut(SparkLook(spark, warehouse)), " ".join(("log_health", *(law.sql for law in LAWS))))
    verdicts = [judge_law(session.sql(law.sql), law, Validation("r", datetime.now(UTC)), {}) for law in LAWS]
    health = session.sql("SELECT * FROM log_health WHERE awaited <> 0 OR late <> 0 OR lost_events <> 0").collect()
    return [verdict.line for verdict in verdicts if not verdict.success] + [str(row) for row in health]


def without_states(tables: dict[str, Table]) -> dict[str, Table]:
    """Ids are hashed otherwise in the pure lane of the tests, and are in states."""
    marks = [{name: row[name] for name in ("mark", "event_date", "next_seq")} for row in tables["lane_snapshots"]]
    return {**tables, "lane_snapshots": marks}
