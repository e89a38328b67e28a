"""What tests share: one small Spark session, an empty warehouse, the real captures."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from real_captures import ABSENT, CAPTURES, NAMES

from jobs.session import LITTLE_DATA, build_session
from pipeline.warehouse.layout import Warehouse

# A worker of pytest-xdist has a main module without a file; pyspark takes that for a run of its doctests, and ends the process.
vars(sys.modules["__main__"]).setdefault("__file__", pytest.__file__)
pytest_plugins = ["suite.marks", "suite.object_store", "suite.rubbish", "suite.slowest"]


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One session of two cores for all tests: the production's settings, but queries are interpreted, which is quicker over little data.

    It lives for much longer than a short job: Java's optimizing compiler pays here, but only for what is called ten times as often as
    it usually demands (14 runs of the job: 113 instead of 152 s of the processor; 104 without it, and then each run a quarter longer).
    """
    optimized_late = " ".join(
        f"-XX:Tier4{threshold}Threshold={calls}"
        for threshold, calls in (("Invocation", 50_000), ("MinInvocation", 6_000), ("Compile", 150_000), ("BackEdge", 400_000))
    )
    of_tests = {
        "spark.master": "local[2]",
        "spark.driver.memory": "2g",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.extraJavaOptions": f"-XX:ReservedCodeCacheSize=400m -XX:+UseSerialGC -Xmn700m {optimized_late}",
    }
    session = build_session("tests", {**LITTLE_DATA, **of_tests})
    yield session
    session.stop()


@pytest.fixture(scope="session")
def spark_in_a_child() -> None:
    """For tests that start Spark in processes of their own, and only there: the mark `spark` follows from it."""


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    """A warehouse of its own; nothing is in it."""
    return Warehouse(str(tmp_path / "warehouse"))


@pytest.fixture(scope="session")
def captures() -> Path:
    """The folder of real brokers' logs."""
    if not NAMES:
        pytest.skip(ABSENT)  # the project must be testable without ../shared; in CI real_captures has raised before
    return CAPTURES
