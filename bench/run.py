"""Run the benchmarks: `python -m bench.run NAME [--captures GLOB] [--copies N] [--rounds N] [--store]`; names are:

lanes:  Delta bronze → Delta copy, and Delta bronze → lanes → tables, on the same rows.
topics: the same as lanes, with 1, 10 and 100 thousand idle topics held by the lanes and a round of quota checks over them.
backfill: the stream (Delta bronze → lanes → tables), and a backfill of all its dates (computed anew and compared, nothing differs).
watch:  lanes in a micro-batch per file of bronze that nobody watches, and the same with listener, ledger, log and lines for a person.
ingest: spark.read.json → Delta copy, and files → ingest → bronze, on the same files.
formats: files → ingest → bronze for each format of files, and a plain copy of them that is told the columns.
whole:  JSON lines → ingest → lanes → tables, and a plain copy of the lines that is told the columns.
fold:   a plain numpy pass, and the lane with all packages of rules, on the same rows, on one core and without Spark. Asks for no captures.
cause_cost: the fold without the package of causes, and with it, in processes of their own. Asks for no captures.
memory: what a lane with ten million retained entries over a thousand topics takes, in memory and as a state blob. Nothing is compared.
load:   a finished log to all tables, by `load` and by `stream --once --drain`, as a user starts them.
read:   reading commands from a cold shell, on the demo's warehouse and on one of --events rows; and a bare count of one table.
live:   the job as a user starts it: seconds until its first rows, and from each new file to the tables. Nothing is compared.
live_served: the same job, while `serve` answers for every other file to a page and to a Prometheus, and is stopped for the rest.
serve:  `serve` with 60,000 series, as a user starts it: scrapes, commits, open pages, memory; beside a bare server of the same bytes.
paint:  the page Now in Chromium, of the demo and of --events rows: until it paints. Nothing is compared. It needs `set-up browser`.
screen: from a change at a real broker until `serve` names the new cause, all with defaults. It needs `set-up broker`.
live_in_store, read_in_store: `live` and `read` with the warehouse in an object store on this machine that takes 20 ms for each request.
collector: two real brokers under the same load in turn, one of them with the collector. It needs `set-up broker`.
what_if: an hour of a busy broker (at most 16 million events), and what-if of one topic, a sweep, and a limit of the broker, on one core.
hour:   the same job for an hour at one file a second: its first ten minutes, and its last ten. Nothing is compared.
"""

import argparse
import json
import shutil
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from bench.cause_cost import bench_cause_cost
from bench.collector import bench_collector
from bench.fold import bench_fold
from bench.fold_memory import bench_memory
from bench.hour import bench_hour
from bench.ingest import bench_formats, bench_ingest, bench_whole
from bench.live import bench_live, bench_live_in_store
from bench.live_served import bench_live_served
from bench.load import bench_load
from bench.log import ingested, log_only, multiplied
from bench.measure import PeakMemory, against_baseline, alternate, cost_of_state, summary
from bench.paint import bench_paint
from bench.read import bench_read, bench_read_in_store
from bench.runs import TO_END, context
from bench.screen import bench_screen
from bench.serve import bench_serve
from bench.stages import bench_stages
from bench.topics import SUBSCRIPTIONS, append_active, brokers_of, warehouse_with_idle_topics
from bench.watch import watched_and_not
from bench.what_if import BUSY_EVENTS, bench_what_if
from driver.session import build_session
from pipeline.lanes.control import issue_drain
from pipeline.lanes.query import start_lanes
from pipeline.repair.backfill.backfill import backfill, dates_of_all
from pipeline.repair.backfill.run import Run as BackfillRun
from pipeline.repair.backfill.slices import SWAPPED_TABLES
from pipeline.settings import Settings, load_settings
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import create_missing_tables

IDLE_TOPICS = (1_000, 10_000, 100_000)
SOURCES = ("dispatch_events", "names", "lane_control")


@dataclass(frozen=True)
class ReadsElsewhere(Warehouse):
    """A fresh warehouse whose sources are another's."""

    source: Warehouse

    def table(self, name: str) -> str:
        """Sources from the other warehouse, everything else here."""
        return self.source.table(name) if name in SOURCES else super().table(name)


def bench_lanes(spark: SparkSession, captures: str, folder: Path, copies: int, rounds: int, settings: Settings) -> dict[str, Any]:
    """Lanes against the plain copy of bronze."""
    bronze, rows = multiplied(spark, ingested(spark, captures, folder), folder, copies)
    print(f"{rows:,} events", flush=True)
    batches: list[dict[str, int]] = []

    def copy(number: int) -> None:
        target = folder / f"copy-{number}"
        source = (
            spark.readStream.format("delta")
            .option("maxBytesPerTrigger", settings.lanes.max_bytes_per_batch)
            .load(bronze.table("dispatch_events"))
        )
        writer = log_only(source).writeStream.format("delta").partitionBy("event_date").option("checkpointLocation", f"{target}-checkpoint")
        writer.trigger(**TO_END).start(str(target)).awaitTermination()

    targets = [ReadsElsewhere(str(folder / f"lanes-{number}"), bronze) for number in range(rounds + 1)]
    for target in targets:
        create_missing_tables(target)

    def lanes(number: int) -> None:
        warehouse = targets[number]
        query = start_lanes(spark, warehouse, settings, context(), TO_END)
        query.awaitTermination()
        batches[:] = [progress.durationMs for progress in query.recentProgress if progress.numInputRows]

    with PeakMemory() as memory:
        pair = alternate(copy, lanes, rounds)
    found = summary(pair, rows) | {"java_peak_mb": memory.java_mb, "python_worker_peak_mb": memory.python_worker_mb}
    found["batch_ms"] = [batch["triggerExecution"] for batch in batches]
    return found | what_the_rules_met(spark, Warehouse(str(folder / f"lanes-{rounds}")))


def what_the_rules_met(spark: SparkSession, warehouse: Warehouse) -> dict[str, Any]:
    """That the rules had work: asks, shrinks, blocks, limiters, dispatchers; and the bytes of state."""
    facts: dict[str, Any] = {}
    for path, query in (
        (
            warehouse.table("batch_manifest"),
            "SELECT sum(applied) events_applied, max(state_bytes) state_bytes FROM t WHERE query = 'lanes'",
        ),
        (
            warehouse.table("subscription_throttle"),
            "SELECT sum(reads) asks, sum(reads_shrunk) shrinks, sum(reads_blocked) blocks, "
            "count(DISTINCT broker, epoch, topic, subscription, opened_at) dispatchers FROM t",
        ),
        (
            warehouse.table("limiter_windows"),
            "SELECT count(DISTINCT broker, epoch, level, topic, subscription, created_at) limiters FROM t",
        ),
    ):
        spark.read.format("delta").load(path).createOrReplaceTempView("t")
        facts |= spark.sql(query).collect()[0].asDict()
    return facts


def bench_topics(spark: SparkSession, captures: str, folder: Path, copies: int, rounds: int, settings: Settings) -> dict[str, Any]:
    """Lanes against the plain copy of the same rows, while the lanes hold 1, 10 and 100 thousand idle topics."""
    bronze, _ = multiplied(spark, ingested(spark, captures, folder), folder, copies)
    active = log_only(spark.read.format("delta").load(bronze.table("dispatch_events")))
    found: dict[str, Any] = {}
    for topics in IDLE_TOPICS:
        print(f"{topics:,} idle topics", flush=True)
        found[f"{topics}_topics"] = _with_idle_topics(spark, folder, active, topics, rounds, settings)
    least, most = (found[f"{topics}_topics"] for topics in (IDLE_TOPICS[0], IDLE_TOPICS[-1]))
    return found | cost_of_state(least, most) | {name: most[name] for name in ("rows", "ratio", "ratio_least", "ratio_most")}


def _with_idle_topics(spark: SparkSession, folder: Path, active: DataFrame, topics: int, rounds: int, settings: Settings) -> dict[str, Any]:
    brokers = brokers_of(active, topics)
    bronze = warehouse_with_idle_topics(spark, folder, active, brokers)
    targets = [ReadsElsewhere(str(folder / f"lanes-{topics}-{number}"), bronze) for number in range(rounds + 1)]
    for target in targets:  # the idle topics, not measured
        create_missing_tables(target)
        start_lanes(spark, target, settings, context(), TO_END).awaitTermination()
    measured = append_active(spark, bronze, active, brokers)
    rows = measured.count()

    def copy(number: int) -> None:
        log_only(measured).write.format("delta").partitionBy("event_date").save(str(folder / f"copy-{topics}-{number}"))

    def lanes(number: int) -> None:
        start_lanes(spark, targets[number], settings, context(), TO_END).awaitTermination()

    with PeakMemory() as memory:
        pair = alternate(copy, lanes, rounds)
    manifest = spark.read.format("delta").load(targets[-1].table("batch_manifest"))
    state = manifest.where("query = 'lanes'").agg(F.max("state_bytes")).collect()[0][0]
    held = brokers.topics_each * len(brokers.starts)
    return summary(pair, rows) | {
        "idle_topics": held,
        "state_bytes": state,
        "bytes_per_topic_or_subscription": round(state / (held * (1 + SUBSCRIPTIONS)), 1),
        "ours_s": round(statistics.median(pair.ours_s), 2),
        "java_peak_mb": memory.java_mb,
        "python_worker_peak_mb": memory.python_worker_mb,
    }


def bench_backfill(spark: SparkSession, captures: str, folder: Path, copies: int, rounds: int, settings: Settings) -> dict[str, Any]:
    """A backfill of every date against the stream that made the tables."""
    bronze, rows = multiplied(spark, ingested(spark, captures, folder), folder, copies)
    print(f"{rows:,} events", flush=True)
    targets = [ReadsElsewhere(str(folder / f"lanes-{number}"), bronze) for number in range(rounds + 2)]
    for target in targets:
        create_missing_tables(target)

    def lanes(number: int) -> None:
        start_lanes(spark, targets[number], settings, context(), TO_END).awaitTermination()

    whole = targets[-1]
    lanes(rounds + 1)
    issue_drain(whole, context())
    lanes(rounds + 1)
    span = spark.read.format("delta").load(whole.table("dispatch_events")).agg(F.min("event_date"), F.max("event_date")).collect()[0]
    asked = dates_of_all(spark, whole, span[0], span[1], None)

    def anew(number: int) -> None:
        this = BackfillRun(
            run_id=str(number),
            began_at=datetime.now(UTC),
            code_version="bench",
            ingest_batch=0,
            dry_run=True,
            tables=SWAPPED_TABLES,
            now=lambda: datetime.now(UTC),
            say=print,
            before_swap=lambda: None,
        )
        found = backfill(spark, whole, settings, this, asked)
        differing = [one for one in found["done"] if any(table["dates"] for table in one["tables"].values())]
        if differing or len(found["done"]) != len(asked):
            raise SystemExit(f"the backfill differs from the stream, or did not do all: {differing or found['not_closed']}")

    with PeakMemory() as memory:
        pair = alternate(lanes, anew, rounds)
    return summary(pair, rows) | {"java_peak_mb": memory.java_mb, "python_worker_peak_mb": memory.python_worker_mb}


def bench_watch(spark: SparkSession, captures: str, folder: Path, copies: int, rounds: int, settings: Settings) -> dict[str, Any]:
    """Lanes as `stream` runs them against lanes that nobody watches."""
    bronze, rows = multiplied(spark, ingested(spark, captures, folder), folder, copies)
    print(f"{rows:,} events", flush=True)
    targets = [ReadsElsewhere(str(folder / f"watch-{number}"), bronze) for number in range(2 * (rounds + 1))]
    for target in targets:
        create_missing_tables(target)
    pair = alternate(*watched_and_not(spark, targets, folder / "watch.log", TO_END), rounds)
    recorded = spark.read.format("delta").load(targets[-1].table("query_progress")).count()
    return summary(pair, rows) | {"micro_batches_recorded": recorded}


BENCHES = {
    "lanes": bench_lanes,
    "ingest": bench_ingest,
    "formats": bench_formats,
    "whole": bench_whole,
    "topics": bench_topics,
    "backfill": bench_backfill,
    "watch": bench_watch,
}
#: By folder, rounds and events.
WITHOUT_CAPTURES: dict[str, Callable[[Path, int, int], dict[str, Any]]] = {
    "fold": lambda _folder, rounds, _events: bench_fold(rounds),
    "cause_cost": lambda folder, rounds, _events: bench_cause_cost(folder, rounds),
    "memory": lambda _folder, _rounds, _events: bench_memory(),
    "stages": lambda _folder, rounds, _events: bench_stages(rounds),
    "live": lambda folder, _rounds, _events: bench_live(folder),
    "live_in_store": lambda folder, _rounds, _events: bench_live_in_store(folder),
    "live_served": lambda folder, _rounds, _events: bench_live_served(folder),
    "hour": lambda folder, _rounds, _events: bench_hour(folder),
    "load": lambda folder, rounds, _events: bench_load(folder, rounds),
    "read": bench_read,
    "serve": lambda folder, rounds, _events: bench_serve(folder, rounds),
    "read_in_store": lambda folder, rounds, _events: bench_read_in_store(folder, rounds),
    "paint": lambda folder, _rounds, events: bench_paint(folder, events),
    "screen": lambda folder, rounds, _events: bench_screen(folder, rounds),
    "what_if": lambda folder, rounds, events: bench_what_if(folder, rounds, min(events, BUSY_EVENTS)),
    "collector": lambda folder, rounds, _events: bench_collector(folder, rounds),
}


def main() -> None:
    """Read arguments, run, print, store."""
    parser = argparse.ArgumentParser(prog="bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("which", choices=[*BENCHES, *WITHOUT_CAPTURES])
    parser.add_argument("--captures", metavar="GLOB", help="event files of captures")
    parser.add_argument("--copies", type=int, default=14)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--events", type=int, default=100_000_000, help="read: rows of bronze in the large warehouse")
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--store", action="store_true", help="keep the result in bench/baseline.json")
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="dispatch-bench-"))
    try:
        if args.which in WITHOUT_CAPTURES:
            found = WITHOUT_CAPTURES[args.which](folder, args.rounds, args.events)
        elif args.captures is None:
            parser.error(f"{args.which} needs --captures")
        else:
            spark = build_session("bench", {"spark.master": args.master, "spark.driver.memory": "4g"})
            found = BENCHES[args.which](spark, args.captures, folder, args.copies, args.rounds, load_settings(None, [], {}))
    finally:
        shutil.rmtree(folder)
    report(args.which, found, store=args.store)


def report(name: str, found: dict[str, Any], *, store: bool) -> None:
    """Print the result and how it compares with the stored one."""
    print(json.dumps(found, indent=2))
    print(against_baseline(name, found, store=store))


if __name__ == "__main__":
    main()
