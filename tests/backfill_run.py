"""Runs `backfill` in the test session, and what is asked of a warehouse after it."""

import argparse
from typing import Any

from lane_tables import Table
from pyspark.sql import SparkSession

from jobs.backfill import add_arguments, run_backfill, text_lines
from jobs.chosen_tables import chosen_tables
from pipeline.backfill.slices import SWAPPED_TABLES
from pipeline.quality.laws import LAWS
from pipeline.reading.by_spark import SparkLook
from pipeline.reading.room import ReadingRoom
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


#: Laws in words of Spark's that DuckDB has not. It takes a tenth of the time for the others.
ONLY_SPARK = {
    "check_histograms_add_up",
    "days_end_in_order",
    "lanes_read_every_event_once",
    "packets_hold_their_events",
    "windows_sum_to_counters",
}


def broken_laws(spark: SparkSession, warehouse: Warehouse) -> list[str]:
    """Of the newest consistent cut, which has to show the backfill; and brokers of whose log something seems to be awaited."""
    session, room = spark.newSession(), ReadingRoom(warehouse, consistent=True)
    by_spark = [law for law in LAWS if law.name in ONLY_SPARK]
    assert len(by_spark) == len(ONLY_SPARK)
    register(session, warehouse, newest_cut(SparkLook(spark, warehouse)), " ".join(law.sql for law in by_spark))
    rows = {law.name: session.sql(law.sql).limit(1).collect() for law in by_spark}
    rows |= {law.name: room.rows(law.sql) for law in LAWS if law.name not in ONLY_SPARK}
    rows["log_health"] = room.rows("SELECT * FROM log_health WHERE awaited <> 0 OR late <> 0 OR lost_events <> 0")
    return [f"{name}: {broken[0]}" for name, broken in rows.items() if broken]


def without_states(tables: dict[str, Table]) -> dict[str, Table]:
    """Ids are hashed otherwise in the pure lane of the tests, and are in states."""
    marks = [{name: row[name] for name in ("mark", "event_date", "next_seq")} for row in tables["lane_snapshots"]]
    return {**tables, "lane_snapshots": marks}
