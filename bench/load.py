"""A finished log to all tables: `load`, and `stream --once --drain`, each as a user starts it, in turn."""

import gzip
import os
import shutil
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.watched import Figures, run_watched

ROOT = Path(__file__).resolve().parents[1]
LOG = ROOT / "demo" / "y_incident" / "events.jsonl.gz"
#: Copies of the demo's log (78,969 events), each the file of a broker of its own.
COPIES = (1, 13, 51)
CORES = 2
COMMANDS = {"load": ("load",), "stream": ("stream", "--once", "--drain")}


def bench_load(folder: Path, rounds: int) -> dict[str, Any]:
    """Both commands over logs of different size. `ratio`: of the largest."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    found: dict[str, Any] = {}
    for copies in COPIES:
        log = folder / f"events-{copies}"
        events = _log_of(log, copies)
        if copies == COPIES[0]:
            _run("load", log, environment)  # Python compiles what nobody has imported yet
        runs: dict[str, list[Figures]] = {name: [] for name in COMMANDS}
        for number in range(rounds):
            for name in sorted(COMMANDS, reverse=number % 2 == 1):
                runs[name].append(_run(name, log, environment))
                print(f"{events:,} events: {name} {runs[name][-1]}", flush=True)
        found[f"{events}_events"] = _compared(runs)
    # A small log does not fill the buffers of a process: it says nothing of an event more.
    some, most = (found[f"{copies * _events()}_events"] for copies in COPIES[-2:])
    more = (COPIES[-1] - COPIES[-2]) * _events()
    return found | {
        "ratio": most["ratio"],
        "us_per_event": round(1e6 * (most["load_s"] - some["load_s"]) / more, 2),
        "bytes_per_event": round(2**20 * (most["load_peak_mb"] - some["load_peak_mb"]) / more),
    }


def _run(name: str, log: Path, environment: Mapping[str, str]) -> Figures:
    """One of COMMANDS over a log; its warehouse is removed."""
    warehouse = log.with_name("warehouse")
    command = [str(ROOT / "spark-submit.sh"), *COMMANDS[name], "--events", str(log), "--warehouse", str(warehouse)]
    figures = run_watched(command, environment, log.with_name("output.log"), CORES)
    shutil.rmtree(warehouse)
    return figures


def _compared(runs: dict[str, list[Figures]]) -> dict[str, float]:
    """Medians of both; `ratio` of each round, its median."""
    found: dict[str, float] = {}
    for name, figures in runs.items():
        found[f"{name}_s"] = round(statistics.median(run.wall_s for run in figures), 2)
        found[f"{name}_cpu_s"] = round(statistics.median(run.cpu_s for run in figures), 2)
        found[f"{name}_peak_mb"] = max(run.peak_mb for run in figures)
    ratios = [stream.wall_s / load.wall_s for stream, load in zip(runs["stream"], runs["load"], strict=True)]
    return found | {"ratio": round(statistics.median(ratios), 2)}


def _log_of(folder: Path, copies: int) -> int:
    """Files of so many brokers; returns the number of events."""
    text = gzip.decompress(LOG.read_bytes())
    folder.mkdir()
    for number in range(copies):
        named = text.replace(b"127.0.0.1:8080", f"broker-{number}:8080".encode())
        (folder / f"{number:03}.jsonl.gz").write_bytes(gzip.compress(named, 6))
    return copies * _events()


def _events() -> int:
    return gzip.decompress(LOG.read_bytes()).count(b"\n")
