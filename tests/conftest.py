"""What tests share: one small Spark session, an empty warehouse, the real captures."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from jobs.session import SHORT_JOB, build_session
from pipeline.warehouse.layout import Warehouse

ROOT = Path(__file__).parent.parent
CAPTURES = ROOT.parent / "shared" / "captures"


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One session of two cores for all tests, with the production's settings."""
    session = build_session(
        "tests", {**SHORT_JOB, "spark.master": "local[2]", "spark.driver.memory": "2g", "spark.sql.shuffle.partitions": "2"}
    )
    yield session
    session.stop()


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    """A warehouse of its own; nothing is in it."""
    return Warehouse(str(tmp_path / "warehouse"))


@pytest.fixture(scope="session")
def captures() -> Path:
    """The folder of real brokers' logs; in CI it must be there, elsewhere tests of it are skipped."""
    if not CAPTURES.is_dir():
        reason = f"no captures in {CAPTURES.relative_to(ROOT.parent)} beside the project"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return CAPTURES
