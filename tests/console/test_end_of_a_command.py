"""How the process of a command ends: at once, and in silence where nobody reads its output any more."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
#: `python -m jobs` with a command that prints more than anybody reads. As DuckDB's and Spark's threads do, something of this process
#: complains when Python takes modules apart.
COMMAND = """
import os, runpy, sys
import console.command_line

class Held:
    def __del__(self, write=os.write):
        write(2, b"taken apart")

held = Held()

def main(arguments):
    print("a line", file=getattr(sys, arguments[0]), flush=True)
    print("what waits to be flushed", end="")
    return 0

console.command_line.main = main
runpy.run_module("jobs", run_name="__main__", alter_sys=True)
"""


def ended(where: str, stdout: int, stderr: int) -> subprocess.CompletedProcess[bytes]:
    """The command after it printed to stdout or stderr (`where`)."""
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run([sys.executable, "-c", COMMAND, where], env=environ, stdout=stdout, stderr=stderr, timeout=60, check=False)


@pytest.fixture
def nobody_reads() -> Iterator[int]:
    """A pipe whose reader has left, as `head` does."""
    read, write = os.pipe()
    os.close(read)
    yield write
    os.close(write)


def test_a_command_whose_output_is_read_ends_without_taking_modules_apart() -> None:
    done = ended("stdout", subprocess.PIPE, subprocess.PIPE)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"a line\nwhat waits to be flushed", b"")


def test_a_command_whose_reader_has_left_ends_at_once_and_in_silence(nobody_reads: int) -> None:
    done = ended("stdout", nobody_reads, subprocess.PIPE)
    assert (done.returncode, done.stderr) == (0, b"")


def test_so_does_one_whose_errors_went_to_the_same_reader(nobody_reads: int) -> None:
    assert ended("stderr", nobody_reads, nobody_reads).returncode == 0
