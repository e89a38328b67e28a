"""How long a person waits who asks a warehouse: each reading command from a cold shell, on the demo's warehouse and on a large one."""

import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.live import LOG, REQUEST_S
from bench.read_large import large_warehouse
from driver.session import ROOT
from tests.support.s3_server import BUCKET, S3, s3_server

SCRIPT = str(ROOT / "spark-submit.sh")
TOPIC, SUBSCRIPTION, AT = "persistent://real/y/orders", "billing", "2026-11-21T11:48:00Z"
#: The least that anybody would need who asks a Delta table by the same libraries: import them, list the files, count.
REFERENCE = (
    "import sys, duckdb, deltalake\n"
    "table = deltalake.DeltaTable(sys.argv[1])\n"
    "print(duckdb.sql(f'SELECT count(*) FROM read_parquet({table.file_uris()})').fetchall())\n"
)
#: What a command may take at most: on the demo's warehouse, and on the large one.
BOUNDS_S = {"demo": 2.0, "large": 5.0}
#: The same of those that load the compiled rules. On the demo's warehouse `report` replays three subscriptions, too.
RULES_BOUND_S = 4.0
WITH_RULES = ("probe", "report")
#: What `quality`, which reads everything, may take on the demo's warehouse.
QUALITY_BOUND_S = 15.0
#: What a command may take at most where the warehouse is in a store.
STORE_BOUND_S = 3.0


def bench_read(folder: Path, rounds: int, events: int) -> dict[str, Any]:
    """Seconds of every command, the median of `rounds`, on the demo's warehouse and on copies of it with `events` rows of bronze in all.

    `ratio`: seconds of the reference on the demo's warehouse over those of the slowest command.
    """
    demo = folder / "demo"
    subprocess.run([SCRIPT, "demo", "--warehouse", str(demo)], check=True, stdout=subprocess.DEVNULL)
    small = _seconds(_with_reference(demo, folder), rounds)
    large_at, rows = large_warehouse(demo, folder / "large", events)
    large = _seconds(_with_reference(large_at, folder), rounds)
    quality = {name: _quality_seconds(at) for name, at in (("demo", demo), ("large", large_at))}
    slowest = max(seconds for name, seconds in small.items() if name != "reference")
    return {
        "ratio": round(small["reference"] / slowest, 3),
        "demo_s": small,
        "large_s": large,
        "large_rows": rows,
        "growth": {name: round(large[name] / small[name], 2) for name in small},
        "quality_s": quality,
        "within_bounds": {name: _within(found, BOUNDS_S[name]) for name, found in (("demo", small), ("large", large))}
        | {"quality": quality["demo"] <= QUALITY_BOUND_S},
    }


def bench_read_in_store(folder: Path, rounds: int) -> dict[str, Any]:
    """The same of the demo's log in a store that takes REQUEST_S for each request, on the same two cores.

    `untranslated_s`: nothing was asked on this machine before, so statements are translated, too. `first_s`: nothing of the warehouse
    was copied before. `again_s`: the copies are there.
    """
    place, kept = f"s3a://{BUCKET}/warehouse", folder / "kept" / "dispatch-analytics"
    with s3_server(S3(delay_s=REQUEST_S)) as store:
        os.environ |= {**store.environment(), "XDG_CACHE_HOME": str(kept.parent)}
        subprocess.run([SCRIPT, "load", "--events", str(LOG), "--warehouse", place], check=True, stdout=subprocess.DEVNULL)
        untranslated = _seconds(commands(place, folder), rounds, kept)
        first = _seconds(commands(place, folder), rounds, kept / "mirror")
        again = _seconds(commands(place, folder), rounds)
    within = all(seconds <= STORE_BOUND_S for seconds in (*first.values(), *again.values()))
    return {"untranslated_s": untranslated, "first_s": first, "again_s": again, "within_bounds": within}


def _within(found: Mapping[str, float], bound_s: float) -> bool:
    bounds = {command: max(bound_s, RULES_BOUND_S) if command in WITH_RULES else bound_s for command in found if command != "reference"}
    return all(found[command] <= bound for command, bound in bounds.items())


def commands(warehouse: str, folder: Path) -> Mapping[str, Sequence[str]]:
    """Every command that only reads."""
    asked: dict[str, Sequence[str]] = {
        "sql": ("sql", "SELECT * FROM throttled_now"),
        "status": ("status",),
        "why": ("why",),
        "explain": ("explain", TOPIC, SUBSCRIPTION),
        "top": ("top",),
        "probe": ("probe", "--at", AT, "--broker", "127.0.0.1:8080"),
        "report": ("report", "--out", str(folder / "incident.html")),
    }
    return {name: (SCRIPT, *words, "--warehouse", warehouse) for name, words in asked.items()}


def _with_reference(warehouse: Path, folder: Path) -> Mapping[str, Sequence[str]]:
    return {"reference": (sys.executable, "-c", REFERENCE, str(warehouse / "dispatch_events")), **commands(str(warehouse), folder)}


def _quality_seconds(warehouse: Path) -> float:
    """Of one run. On copies some invariants are broken, for the books are the demo's: but all must be judged."""
    began = time.perf_counter()
    done = subprocess.run((SCRIPT, "quality", "--warehouse", str(warehouse)), stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode > 1 or not done.stdout.rstrip().endswith(" hold"):
        raise SystemExit(f"quality ended with {done.returncode} before it had judged all")
    return round(time.perf_counter() - began, 2)


def _timed(command: Sequence[str]) -> float:
    began = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, check=False)
    seconds = time.perf_counter() - began
    if done.returncode > 1:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}")
    print(f"  {seconds:.2f} s: {' '.join(command[:2])}", flush=True)
    return seconds


def _seconds(asked: Mapping[str, Sequence[str]], rounds: int, without: Path | None = None) -> dict[str, float]:
    """Median of each command, in turn, each time without this folder; the first round warms the disk's cache and is not counted."""
    found: dict[str, list[float]] = {}
    for number in range(rounds + 1):
        for name, command in asked.items():
            if without is not None:
                shutil.rmtree(without, ignore_errors=True)
            seconds = _timed(command)
            if number:
                found.setdefault(name, []).append(seconds)
    return {name: round(statistics.median(times), 2) for name, times in found.items()}
