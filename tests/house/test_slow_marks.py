"""What is left out of a run is left out for a reason, and nothing starts Spark where nobody expects it."""

import subprocess
from pathlib import Path

import pyspark
import pytest
from suite.marks import NO_SPARK, faults_of


@pytest.mark.parametrize(
    "mark", [pytest.mark.slow, pytest.mark.slow(), pytest.mark.slow("nine runs of the job"), pytest.mark.slow(reason="it is slow")]
)
def test_a_slow_test_without_a_reason_is_refused(mark: pytest.MarkDecorator) -> None:
    (fault,) = faults_of(mark.mark)
    assert "needs reason=" in fault


def test_a_slow_test_with_a_reason_is_not() -> None:
    assert faults_of(pytest.mark.slow(reason="nine runs of the job; test_order keeps the claim by default").mark) == []


def test_spark_does_not_start_for_a_test_that_uses_none_of_its_fixtures() -> None:
    """Its launcher says why; whatever starts Spark, here or in a child, goes through it."""
    command = [str(Path(pyspark.__file__).parent / "bin" / "spark-submit"), "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert NO_SPARK.removeprefix("-XX:+") in done.stdout + done.stderr
