"""Does a live job stay as it is? An hour at one file a second: seconds per micro-batch, lag and memory, first ten minutes against last ten.

The log is simulated (busy_hour.toml): a thousand topics on four brokers, 4,300 events a second, as quick as life. Files that are read leave
the folder, as for any job that runs for days. `maintain` runs beside the job after half of the time.
"""

import heapq
import os
import re
import signal
import statistics
import subprocess
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

import zstandard
from deltalake import DeltaTable

from bench.live import PATIENCE_S, PHASES, ROOT, LiveTables, started
from bench.measure import family
from sim.files import read_lines
from sim.run import EVENTS, simulate
from sim.scenario import read_scenario

SCENARIO = Path(__file__).parent / "busy_hour.toml"
#: Minutes at the beginning that are not counted (Java compiles itself), and length of what is compared, at the beginning and at the end.
WARM_UP_MINUTES, COMPARED_MINUTES = 2, 10
SAMPLE_EVERY_S = 15.0
_TS = re.compile(r'"ts":(\d+)')


def bench_hour(folder: Path, minutes: int = 60) -> dict[str, Any]:
    """Simulate the log, feed it to `./spark-submit.sh stream` a second at a time, and compare the job's beginning with its end."""
    coming = folder / "coming"
    counts = list(_files_by_second(folder, coming, minutes * 60))
    events = folder / "events"
    events.mkdir()
    print(f"{sum(counts):,} events in {len(counts)} files", flush=True)
    job = started(events, folder, f"file:{folder / 'warehouse'}", "--set", f"ingest.archive_folder={folder / 'read'}")
    memory = _Memory(job.pid)
    renamed: list[float] = []
    upkeep: subprocess.Popen[bytes] | None = None
    try:
        began = time.monotonic()
        for number in range(len(counts)):
            time.sleep(max(0.0, began + number - time.monotonic()))
            if job.poll() is not None:
                raise SystemExit(f"the job ended with {job.returncode}: {folder}/job.log")
            (coming / f"{number:05}.jsonl.zst").rename(events / f"{number:05}.jsonl.zst")
            renamed.append(time.time())
            if number == len(counts) // 2:
                upkeep = _maintain(folder)
        LiveTables(f"file:{folder / 'warehouse'}").wait_for(sum(counts), job)
    finally:
        memory.stop()
        os.killpg(job.pid, signal.SIGTERM)
        job.wait(PATIENCE_S)
    assert upkeep is not None
    if upkeep.wait(PATIENCE_S):
        raise SystemExit(f"maintain ended with {upkeep.returncode}: {folder}/maintain.log")
    first, last = _spans(renamed)
    return {
        "minutes": minutes,
        "events": sum(counts),
        "first": _during(folder / "warehouse", counts, renamed, memory, first),
        "last": _during(folder / "warehouse", counts, renamed, memory, last),
    }


def _files_by_second(folder: Path, coming: Path, seconds: int) -> Iterator[int]:
    """Write the events of each second of all brokers into a file of its own; gives how many."""
    log = folder / "simulated"
    simulate(replace(read_scenario(SCENARIO), duration_s=seconds), 1, log)
    by_broker: dict[str, list[Path]] = defaultdict(list)
    for path in sorted((log / EVENTS).iterdir()):
        by_broker[path.name.rpartition("-")[0]].append(path)
    streams = [((int(_ts(line)), line) for path in paths for line in read_lines(path)) for paths in by_broker.values()]
    coming.mkdir()
    pack = zstandard.ZstdCompressor(level=1)
    merged = heapq.merge(*streams, key=lambda timed: timed[0] // 1_000_000)
    for number, (_, lines) in enumerate(groupby(merged, key=lambda timed: timed[0] // 1_000_000)):
        texts = [line for _, line in lines]
        (coming / f"{number:05}.jsonl.zst").write_bytes(pack.compress("".join(texts).encode()))
        yield len(texts)


def _ts(line: str) -> str:
    found = _TS.search(line)
    assert found is not None, line
    return found[1]


def _maintain(folder: Path) -> "subprocess.Popen[bytes]":
    with (folder / "maintain.log").open("wb") as output:
        command = [str(ROOT / "spark-submit.sh"), "maintain", "--warehouse", str(folder / "warehouse")]
        return subprocess.Popen(command, stdout=output, stderr=output)


class _Memory:
    """Resident MB of the job's processes, sampled: Java, and the largest Python (the driver, or a worker)."""

    def __init__(self, job: int) -> None:
        self.samples: list[tuple[float, int, int]] = []
        self._job = job
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """No more samples."""
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped.wait(SAMPLE_EVERY_S):
            most = {"java": 0, "python": 0}
            for _, command, resident_mb in family(self._job):
                # A program that Java starts is a thread of Java for a moment: with a name of its own, and with all of Java's memory.
                name = "python" if command.startswith("python") else command
                if name in most:
                    most[name] = max(most[name], resident_mb)
            self.samples.append((time.time(), most["java"], most["python"]))


def _spans(renamed: list[float]) -> tuple[tuple[float, float], tuple[float, float]]:
    """From and until (s since 1970) of the two stretches that are compared."""
    length = min(COMPARED_MINUTES * 60, (len(renamed) - WARM_UP_MINUTES * 60) / 2)
    begin = renamed[0] + WARM_UP_MINUTES * 60
    return (begin, begin + length), (renamed[-1] - length, renamed[-1])


def _during(warehouse: Path, counts: list[int], renamed: list[float], memory: _Memory, span: tuple[float, float]) -> dict[str, Any]:
    progress = DeltaTable(warehouse / "query_progress").to_pyarrow_table().to_pylist()
    found: dict[str, Any] = {}
    for query in ("ingest", "lanes"):
        rows = [row for row in progress if row["query"] == query and row["rows_in"] and _within(row["began_at"], span)]
        found[f"{query}_s"] = round(statistics.median(row["trigger_execution_ms"] for row in rows) / 1000, 2)
        found[f"{query}_micro_batches"] = len(rows)
        found[f"{query}_ms"] = {phase: statistics.median(row[f"{phase}_ms"] for row in rows) for phase in PHASES}
    lags = [lag for at, lag in _lags(warehouse, counts, renamed) if span[0] <= at < span[1]]
    found["lag_s"], found["lag_p90_s"] = round(statistics.median(lags), 1), round(statistics.quantiles(lags, n=10)[-1], 1)
    samples = [sample for sample in memory.samples if span[0] <= sample[0] < span[1]]
    found["java_mb"], found["python_mb"] = (max(sample[place] for sample in samples) for place in (1, 2))
    return found


def _lags(warehouse: Path, counts: list[int], renamed: list[float]) -> Iterator[tuple[float, float]]:
    """Of each file: when it was renamed, and seconds from then until lanes had all files up to it in the tables."""
    manifest = DeltaTable(warehouse / "batch_manifest").to_pyarrow_table(columns=["query", "batch_id", "rows_in", "written_at"])
    done, file, expected = 0, 0, counts[0]
    for row in sorted((row for row in manifest.to_pylist() if row["query"] == "lanes"), key=lambda row: int(row["batch_id"])):
        done += row["rows_in"]
        while file < len(counts) and expected <= done:
            yield renamed[file], row["written_at"].timestamp() - renamed[file]
            file += 1
            expected += counts[file] if file < len(counts) else 0


def _within(at: datetime, span: tuple[float, float]) -> bool:
    return span[0] <= at.timestamp() < span[1]
