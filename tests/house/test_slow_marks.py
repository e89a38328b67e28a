"""What is left out of a run is left out for a reason, and nothing starts Spark where nobody expects it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest
from suite.marks import LONG, NO_SPARK, faults_of

ROOT = Path(__file__).parents[2]


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


def test_the_long_files_are_there() -> None:
    assert [path for path in LONG if not (ROOT / path).exists()] == []


def test_files_of_sparks_session_come_first_and_those_of_a_child_last() -> None:
    files = ["tests/lanes/test_order.py", "tests/store/test_stream_into_store.py", "tests/warehouse/test_guard.py"]
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *files]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    found = [line.partition("::")[0] for line in done.stdout.splitlines() if "::" in line]
    assert list(dict.fromkeys(found)) == [files[2], files[0], files[1]]


def test_the_first_process_takes_files_from_the_beginning_and_the_second_from_the_end(tmp_path: Path) -> None:
    """And only the second one stands back."""
    for name in "abcd":
        test = f"def test(worker_id: str) -> None:\n    assert os.nice(0) == {os.nice(0)} + (0 if worker_id == 'gw0' else BEHIND)\n"
        (tmp_path / f"test_{name}.py").write_text(f"import os\n\nfrom suite.both_ends import BEHIND\n\n\n{test}")
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["suite.both_ends"]\n')
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {ROOT / 'tests/support'}\n")
    options = ["-n", "2", "--dist", "loadfile", "--no-loadscope-reorder", "-v", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *options, "--rootdir", str(tmp_path), "-c", str(tmp_path / "pytest.ini"), str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert sorted(re.findall(r"\[(gw\d)\].* PASSED test_(\w)", done.stdout)) == [("gw0", "a"), ("gw0", "b"), ("gw1", "c"), ("gw1", "d")]
