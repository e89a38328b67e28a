"""What watching costs: lanes in many small micro-batches that nobody watches; and as `stream` runs them, with listener, ledger and log."""

import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from driver.open_warehouse import OpenWarehouse, StopRequest
from driver.run_ledger import recorded
from driver.this_machine import utc_now
from driver.watch import run_to_end
from pipeline.lanes.query import start_lanes
from pipeline.run_context import RunContext
from pipeline.settings import load_settings
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.stop import MicroBatchGate, StopFile, park_until_interrupted

#: A micro-batch takes a file, however small it is: as many progress events as the rows can give.
ONE_FILE = "1k"


def watched_and_not(
    spark: SparkSession, targets: Sequence[Warehouse], log: Path, trigger: dict[str, Any]
) -> tuple[Callable[[int], None], Callable[[int], None]]:
    """The two sides to be measured, each by the number of its round: unwatched into the even targets, watched into the odd ones.

    Every target reads the same bronze and has its tables. `log`: file of the JSON lines.
    """
    settings = load_settings(None, [f"lanes.max_bytes_per_batch={ONE_FILE}", f"watch.log_file={log}"], {})

    def unwatched(number: int) -> None:
        opened = _opened(spark, targets[2 * number])
        start_lanes(spark, opened.warehouse, settings, opened.run, trigger).awaitTermination()

    def watched(number: int) -> None:
        opened = _opened(spark, targets[2 * number + 1])
        with recorded(opened, settings, events="bench", mode="once") as recorder:
            seen = replace(opened, run=replace(opened.run, after_micro_batch=recorder.after_micro_batch))
            run_to_end(seen, recorder, "lanes", start_lanes(spark, seen.warehouse, settings, seen.run, trigger))

    return unwatched, watched


def _opened(spark: SparkSession, warehouse: Warehouse) -> OpenWarehouse:
    """Without a lock: nobody else knows of it."""
    gate = MicroBatchGate(lambda: None, park_until_interrupted(spark))
    run = RunContext(str(uuid.uuid4()), "bench", utc_now, gate.enter, time.sleep)
    return OpenWarehouse(spark, warehouse, run, gate, StopRequest(StopFile(warehouse)))
