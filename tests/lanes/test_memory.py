"""A lane with two million rows in one micro-batch stays under 400 MB of its worker, in order or backwards."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIMIT_MB = 400
WORKER = """
import re, sys
from pathlib import Path
sys.path[:0] = ["tests", "tests/support"]
import numpy as np, pandas as pd
from lane_rows import lane_rows
from busy_log import busy_log
from pipeline.lanes.packets.of_events import PACKET_ROWS
from pipeline.lanes.operator import lane_operator
from pipeline.lanes.outcome_packets import opened_outcomes
from pipeline.lanes.packets.packet import packed_rows
from lane_tables import SETTINGS
from schemas.lane_columns import PACKET, ROW

ROWS, CHUNK = 2_000_000, PACKET_ROWS
pattern = lane_rows(busy_log(seconds=60))

def chunks():
    numbers = range(0, ROWS, CHUNK)
    for first in reversed(numbers) if sys.argv[1] == "backwards" else numbers:
        last = min(first + CHUNK, ROWS)
        rows = pattern[np.arange(first, last) % len(pattern)]
        rows[:, 1] = np.arange(first + 1, last + 1)
        yield pd.DataFrame({PACKET: [packed_rows(rows.T)], ROW: [np.empty(0, dtype=np.int64)]})

class State:
    exists = False
    def update(self, value):
        self.blob = value[0]

(packets,) = lane_operator(SETTINGS)((7,), chunks(), State())
report = opened_outcomes("lane_report", [packets["outcome"].iloc[-1]])
# Not getrusage: its maximum is inherited from the process that started this one, a pytest of any size.
peak_kb = int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
print(report["applied"][0].as_py(), peak_kb // 1024)
"""


@pytest.fixture(scope="module", autouse=True)
def _rules_are_compiled() -> None:
    """Compiling takes more memory than a lane: not in the process that is measured."""
    subprocess.run([sys.executable, "-m", "pipeline.rules.warm_up"], cwd=ROOT, check=True)


@pytest.mark.parametrize("order", ["in_order", "backwards"])
def test_two_million_rows_of_one_lane_fit(order: str) -> None:
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, 'tests/lanes')\n{WORKER}", order]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    applied, peak_mb = map(int, result.stdout.split())
    assert applied == 2_000_000
    assert peak_mb < LIMIT_MB, f"{peak_mb} MB; repeat: pytest {__file__} -k {order}"
