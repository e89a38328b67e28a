"""What tests share: one small Spark session, an empty warehouse, the real captures."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from real_captures import ABSENT, CAPTURES, NAMES
from suite.session import session_of_tests

from pipeline.warehouse.layout import Warehouse

# A worker of pytest-xdist has a main module without a file; pyspark takes that for a run of its doctests, and ends the process.
vars(sys.modules["__main__"]).setdefault("__file__", pytest.__file__)
pytest_plugins = [
    "suite.both_ends",
    "suite.garbage",
    "suite.loaded_rules",
    "suite.marks",
    "suite.object_store",
    "suite.rubbish",
    "suite.slowest",
]


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One session for all tests."""
    yield from session_of_tests()


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
        # The captures lie beside the project; a clone without them is tested, too.
        pytest.skip(ABSENT)
    return CAPTURES
