"""A warehouse in which all is right though its log had troubles: part of the demo's, lines damaged, repeated and late."""

import gzip
import json
import random
from pathlib import Path

import pytest
from job_run import run_job
from pyspark.sql import SparkSession

from pipeline.warehouse.layout import Warehouse

DEMO = Path(__file__).resolve().parents[2] / "demo/y_incident/events.jsonl.gz"
#: Until after its first round of checks that exceeds a quota, the third of all.
EVENTS = 8_700


def damaged_log() -> tuple[list[bytes], bytes]:
    """Lines with tombstones (wrong type), losses (cut) and repeats; and one of the lost lines, whole, for later."""
    with gzip.open(DEMO, "rb") as lines:
        log = [next(lines).rstrip(b"\n") for _ in range(EVENTS)]
    small = [position for position, line in enumerate(log) if json.loads(line)["type"] in ("ack", "request")]
    damaged = sorted(random.Random(3).sample(small, 20))
    late = log[damaged[0]]
    for position in damaged[10:]:
        log[position] = json.dumps({**json.loads(log[position]), "ts": "now", "topic": 7}).encode()
    for position in damaged[:5]:
        log[position] = log[position][:40]
    for position in damaged[5:10]:
        log[position] = json.dumps({**json.loads(log[position]), "topic": 7}).encode()
    return [*log, *log[100:130]], late


@pytest.fixture(scope="session")
def sound(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """The log's tables, drained; then the late line came."""
    folder = tmp_path_factory.mktemp("sound")
    lines, late = damaged_log()
    (folder / "events").mkdir()
    (folder / "events" / "a.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    warehouse = Warehouse(str(folder / "warehouse"))
    run_job(folder / "events", warehouse, lanes__window_ms="5000")
    (folder / "events" / "b.jsonl").write_bytes(late + b"\n")
    run_job(folder / "events", warehouse, drain=False, lanes__window_ms="5000")
    return warehouse
