"""Stopping between micro-batches."""

import threading
import time
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.stop import MicroBatchGate, StopFile, park_until_interrupted


def test_an_open_gate_lets_through_whom_it_verified() -> None:
    calls: list[str] = []
    gate = MicroBatchGate(lambda: calls.append("verified"), lambda: calls.append("parked"))
    gate.enter()
    assert (calls, gate.parked) == (["verified"], 0)


def test_a_closed_gate_parks() -> None:
    parked = threading.Event()
    gate = MicroBatchGate(lambda: None, parked.set)
    gate.close()
    gate.enter()
    assert (parked.is_set(), gate.parked) == (True, 1)


def test_the_stop_file_of_an_earlier_run_is_forgotten(spark: SparkSession, warehouse: Warehouse) -> None:
    file = StopFile(warehouse)
    Path(warehouse.root).mkdir()
    Path(warehouse.stop_file).touch()
    assert file.is_there()
    file.clear()
    assert not file.is_there()


def test_a_parked_query_stops_as_if_idle_and_repeats_its_batch_later(spark: SparkSession, tmp_path: Path) -> None:
    done: list[int] = []

    def start(gate: MicroBatchGate) -> StreamingQuery:
        def write(batch: DataFrame, number: int) -> None:
            gate.enter()
            batch.count()
            done.append(number)

        rows = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 2).load()
        query = rows.writeStream.foreachBatch(write).option("checkpointLocation", str(tmp_path / "checkpoint"))
        return query.trigger(processingTime="100 milliseconds").start()

    gate = MicroBatchGate(lambda: None, park_until_interrupted(spark))
    query = start(gate)
    deadline = time.monotonic() + 60
    while not done and time.monotonic() < deadline:
        time.sleep(0.05)
    gate.close()
    while not gate.parked and time.monotonic() < deadline:
        time.sleep(0.05)
    finished = done[-1]
    query.stop()
    assert (query.isActive, query.exception()) == (False, None)
    done.clear()

    again = start(MicroBatchGate(lambda: None, park_until_interrupted(spark)))
    while not done and time.monotonic() < deadline:
        time.sleep(0.05)
    again.stop()
    assert done[0] == finished + 1
