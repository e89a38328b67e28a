"""The logs that the sides are measured with, made of one capture before anything is measured.

    python -m bench.peers.logs --capture FILE FOLDER LOG…

A LOG is one of
* rows-COPIES: the capture so many times, each copy under a broker and topics of its own;
* topics-NUMBER: 26 copies, and so many idle topics with three subscriptions each (bench/topics.py);
* skew-COPIES: so many copies; half of them are one broker's, one after the other.

Each becomes a warehouse below FOLDER/LOG with bronze and names, and an entry of FOLDER/logs.json.
"""

import argparse
import json
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from bench.log import ingested, log_only, multiplied, stored
from bench.peers.sides import MEMORY
from bench.topics import append_active, brokers_of, warehouse_with_idle_topics
from driver.session import build_session
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import create_missing_tables
from schemas.tables.bronze import PARSED_FIELDS

FACTS = "logs.json"
#: Copies of the capture that are active among the idle topics.
ACTIVE_COPIES = 26


def multiplied_log(spark: SparkSession, once: Warehouse, folder: Path, copies: int) -> Warehouse:
    """The capture `copies` times, side by side."""
    warehouse, _ = multiplied(spark, once, folder, copies)
    return warehouse


def log_with_topics(spark: SparkSession, once: Warehouse, folder: Path, topics: int) -> Warehouse:
    """Active copies on brokers that share `topics` idle topics, their loading included."""
    source, _ = multiplied(spark, once, folder, ACTIVE_COPIES)
    active = log_only(spark.read.format("delta").load(source.table("dispatch_events")))
    brokers = brokers_of(active, topics)
    warehouse = warehouse_with_idle_topics(spark, folder, active, brokers)
    append_active(spark, warehouse, active, brokers)
    return warehouse


def skewed_log(spark: SparkSession, once: Warehouse, folder: Path, copies: int) -> Warehouse:
    """The capture `copies` times; half of the copies are one broker's, one after the other, each with topics of its own."""
    side_by_side, _ = multiplied(spark, once, folder, copies - copies // 2)
    others = spark.read.format("delta").load(side_by_side.table("dispatch_events")).select(*(f.name for f in PARSED_FIELDS))
    capture = spark.read.format("delta").load(once.table("dispatch_events")).select(*(f.name for f in PARSED_FIELDS))
    warehouse = Warehouse(str(folder / "skewed"))
    create_missing_tables(warehouse)
    stored(spark, others.unionByName(one_after_the_other(spark, capture, copies // 2)), warehouse, 8)
    return warehouse


def one_after_the_other(spark: SparkSession, capture: DataFrame, copies: int) -> DataFrame:
    """One broker whose log is a capture of one epoch `copies` times. Raises SystemExit for a capture of several epochs."""
    living = capture.where("type <> 'broker_stop'")
    epochs, events, first_ts, last_ts = living.agg(F.countDistinct("epoch"), F.count("*"), F.min("ts"), F.max("ts")).collect()[0]
    if epochs != 1:
        raise SystemExit(f"a skewed log needs a capture of one epoch, this one has {epochs}")
    span_us = last_ts - first_ts + 1000
    copy = spark.range(copies).withColumnRenamed("id", "copy")
    return (
        living.crossJoin(F.broadcast(copy))
        .withColumns(
            {
                "broker": F.lit("broker-with-half:8080"),
                "topic": F.expr("replace(topic, 'persistent://', concat('persistent://part', copy, '-'))"),
                "seq": F.expr(f"seq + copy * {events}"),
                "ts": F.expr(f"ts + copy * {span_us}"),
                "ns": F.expr(f"ns + copy * {span_us} * 1000L"),
                "publish_ts": F.expr(f"publish_ts + copy * {span_us} div 1000"),
            }
        )
        .drop("copy")
    )


MAKERS = {"rows": multiplied_log, "topics": log_with_topics, "skew": skewed_log}


def facts_of(spark: SparkSession, name: str, warehouse: Warehouse) -> dict[str, object]:
    """What a result has of its log, and where it lies."""
    events = spark.read.format("delta").load(warehouse.table("dispatch_events"))
    by_broker = [row["count"] for row in events.groupBy("broker").count().collect()]
    topics = events.select("topic_id").distinct().count()
    return {
        "log": name,
        "rows": sum(by_broker),
        "brokers": len(by_broker),
        "largest_share": round(max(by_broker) / sum(by_broker), 3),
        "topics": topics,
        "warehouse": warehouse.root,
    }


def main() -> None:
    """Read arguments, make the logs, write their facts."""
    parser = argparse.ArgumentParser(prog="bench.peers.logs", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("logs", nargs="+", metavar="LOG")
    parser.add_argument("--capture", required=True, metavar="FILE")
    args = parser.parse_args()
    spark = build_session("peers-logs", {"spark.master": "local[2]", "spark.driver.memory": MEMORY})
    once = ingested(spark, args.capture, args.folder)
    facts = []
    for name in args.logs:
        kind, _, size = name.partition("-")
        folder = args.folder / name
        folder.mkdir()
        facts.append(facts_of(spark, name, MAKERS[kind](spark, once, folder, int(size))))
        print(facts[-1], flush=True)
    (args.folder / FACTS).write_text(json.dumps(facts))


if __name__ == "__main__":
    main()
