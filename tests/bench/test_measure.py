"""What benchmarks measure with."""

import subprocess
import sys

from bench.measure import processor_s

#: A child with a group of its own, as Spark's daemon of Python workers has, works for half a second; both then wait.
WORKS = """
import os, sys, time
if os.fork() == 0:
    os.setpgid(0, 0)
    while time.process_time() < 0.5:
        pass
    print("worked", flush=True)
sys.stdin.read()
"""


def test_the_processor_of_a_job_has_that_of_workers_in_a_group_of_their_own() -> None:
    command = [sys.executable, "-c", WORKS]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True) as job:
        assert job.stdout is not None
        assert job.stdout.readline() == b"worked\n"
        assert processor_s(job.pid) >= 0.4
