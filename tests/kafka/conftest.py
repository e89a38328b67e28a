"""One Kafka broker for all tests here; the job is a child process, started as a user starts it."""

import importlib.util
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from ended_job import Ended

from driver.session import SHORT_JOB
from pipeline.warehouse.layout import Warehouse

if TYPE_CHECKING:
    from kafka_broker import KafkaBroker

ROOT = Path(__file__).parents[2]
if importlib.util.find_spec("confluent_kafka") is None:
    collect_ignore_glob = ["test_*.py"]  # only `./test.sh kafka` installs Kafka's client, and it runs nothing else


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[KafkaBroker]":
    """A broker without topics."""
    from kafka_broker import KafkaBroker

    with KafkaBroker(tmp_path_factory.mktemp("kafka")) as running:
        yield running


@pytest.fixture
def job(spark_in_a_child: None) -> Callable[..., Ended]:
    """Runs a command of the project to its end."""

    def run(command: str, *words: str) -> Ended:
        kept = {key: value for key, value in os.environ.items() if key not in ("SPARK_HOME", "PYSPARK_SUBMIT_ARGS", "PYSPARK_GATEWAY_PORT")}
        line = [
            str(ROOT / "spark-submit.sh"), command, *words, "--master", "local[2]",
            "--driver-java-options", SHORT_JOB["spark.driver.extraJavaOptions"], "--conf", "spark.sql.shuffle.partitions=2",
        ]  # fmt: skip
        done = subprocess.run(line, env=kept, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return Ended(done.returncode, done.stdout.decode(errors="replace"))

    return run


@pytest.fixture
def stream_once(job: Callable[..., Ended]) -> Callable[..., Ended]:
    """Runs `stream --once` with further arguments."""

    def run(events: str | Path, warehouse: Warehouse, *more: str) -> Ended:
        return job("stream", "--once", "--events", str(events), "--warehouse", warehouse.root, *more)

    return run
