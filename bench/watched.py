"""A command as a whole process: seconds that pass, seconds of the processor, and memory, of it and of all that it starts.

Linux only: both are read from /proc while the command runs. The operating system adds a child's seconds to its parent's only if that waits
for it, which Java and Python do not always do for each other.
"""

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

POLL_S = 0.1
#: Of each of a failed command's files.
SHOWN_CHARACTERS = 4_000
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
#: Fields of /proc/PID/stat behind the command's name, which may hold blanks.
PARENT, USER_TICKS, SYSTEM_TICKS, RESIDENT_PAGES = 1, 11, 12, 21


@dataclass(frozen=True)
class Figures:
    """What a command took. `peak_mb`: the greatest sum over its processes that a look found."""

    wall_s: float
    cpu_s: float
    peak_mb: int


@dataclass(frozen=True)
class _Process:
    parent: int
    cpu_s: float
    resident_mb: float


def run_watched(command: Sequence[str], environment: Mapping[str, str], output: Path, cores: int) -> Figures:
    """Run a command on the first `cores` cores that we may use; what it prints goes to `output`, its errors beside that (`.err`).

    Raises SystemExit with the end of both if it fails.
    """
    chosen = set(sorted(os.sched_getaffinity(0))[:cores])
    cpu_s: dict[int, float] = {}
    peak_mb = 0.0
    began = time.perf_counter()
    errors = output.with_suffix(".err")
    with output.open("wb") as out, errors.open("wb") as err:
        child = subprocess.Popen(command, stdout=out, stderr=err, env=dict(environment), preexec_fn=lambda: os.sched_setaffinity(0, chosen))
        while child.poll() is None:
            family = _family(child.pid)
            cpu_s.update({pid: process.cpu_s for pid, process in family.items()})
            peak_mb = max(peak_mb, sum(process.resident_mb for process in family.values()))
            time.sleep(POLL_S)
    wall_s = time.perf_counter() - began
    if child.returncode != 0:
        ends = "".join(file.read_text(errors="replace")[-SHOWN_CHARACTERS:] for file in (output, errors))
        raise SystemExit(f"{' '.join(command)} ended with {child.returncode}:\n{ends}")
    return Figures(round(wall_s, 2), round(sum(cpu_s.values()), 2), round(peak_mb))


def _family(root: int) -> dict[int, _Process]:
    """`root` and every process below it."""
    processes = {pid: found for pid in _pids() if (found := _process(pid)) is not None}
    family = {root} & processes.keys()
    while True:
        more = {pid for pid, process in processes.items() if process.parent in family} - family
        if not more:
            return {pid: processes[pid] for pid in family}
        family |= more


def _pids() -> list[int]:
    return [int(folder.name) for folder in Path("/proc").glob("[0-9]*")]


def _process(pid: int) -> _Process | None:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it ended while we looked
        return None
    ticks = int(fields[USER_TICKS]) + int(fields[SYSTEM_TICKS])
    return _Process(int(fields[PARENT]), ticks / TICKS_PER_S, int(fields[RESIDENT_PAGES]) * PAGE_BYTES / 2**20)
