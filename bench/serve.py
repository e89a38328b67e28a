"""How quick `serve` is with 60,000 series: started as a user starts it, asked from outside, beside a bare server of the same bytes.

The log is simulated (many_series.toml). Server, reference and clients share the same two cores.
"""

import asyncio
import gzip
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple
from urllib.request import urlopen

from bench.measure import processor_s
from bench.scrapes import HOST, PATIENCE_S, Connection, one_after_the_other, scraped
from pipeline.query.room import ReadingRoom
from pipeline.warehouse.append import append_rows
from pipeline.warehouse.layout import Warehouse
from schemas.tables import TABLES_BY_NAME
from sim.files import read_lines
from sim.run import EVENTS, simulate
from sim.scenario import read_scenario

ROOT = Path(__file__).resolve().parents[1]
SCENARIO = Path(__file__).parent / "many_series.toml"
SCRIPT = str(ROOT / "spark-submit.sh")
PER_S, SCRAPES_S = 100, 20
PAGES, COMMITS, AT_LEAST = 200, 10, 60_000
#: Answers one after the other, for the ratio.
IN_TURN = 200
BOUNDS = {"warm_ms": 200.0, "p99_ms": 50.0, "fresh_s": 1.0}
_POLL_S = 0.01


class Running(NamedTuple):
    """A server in a process group of its own."""

    pid: int
    port: int
    started_s: float

    def memory_mb(self, which: str = "VmRSS") -> int:
        """Of its process; VmHWM: the most until now."""
        lines = dict(line.split(":", 1) for line in Path(f"/proc/{self.pid}/status").read_text().splitlines() if ":" in line)
        return int(lines[which].split()[0]) // 1024


def bench_serve(folder: Path, rounds: int) -> dict[str, Any]:
    """Simulate, load, serve, ask. `ratio`: seconds of the bare server's answers over those of `/metrics`, kept, one after the other."""
    warehouse = _loaded(folder)
    load = os.getloadavg()[0]
    with served(warehouse, folder) as server:
        found: dict[str, Any] = {"start_s": round(server.started_s, 2), "memory_mb": {"start": server.memory_mb()}}
        found |= asyncio.run(_texts(server, folder))
        with _bare(folder / "metrics.gz", folder) as bare:
            found |= asyncio.run(_compared(server, bare, rounds))
        found["after_commit"] = asyncio.run(_after_commits(server, warehouse))
        found["pages"] = asyncio.run(_pages(server, warehouse))
        found["memory_mb"] |= {"end": server.memory_mb(), "peak": server.memory_mb("VmHWM")}
    return found | {"load_before": round(load, 2), "within_bounds": _within(found)}


def _within(found: dict[str, Any]) -> dict[str, bool]:
    return {
        "warm": found["metrics"]["warm_ms"] <= BOUNDS["warm_ms"],
        "scrapes": found["scrapes"]["p99_ms"] <= BOUNDS["p99_ms"],
        "fresh": found["after_commit"]["readyz_max_s"] <= BOUNDS["fresh_s"],
    }


def _loaded(folder: Path) -> Warehouse:
    warehouse = Warehouse(f"file:{folder / 'warehouse'}")
    simulate(read_scenario(SCENARIO), 1, folder / "simulated", lambda line: print(line, flush=True))
    log = _of_running_brokers(folder / "simulated" / EVENTS, folder / "log")
    subprocess.run([SCRIPT, "load", "--events", str(log), "--warehouse", warehouse.root], check=True, stdout=subprocess.DEVNULL)
    return warehouse


def _of_running_brokers(events: Path, log: Path) -> Path:
    """The same log without its last line, the broker's stop: after that nothing is known of now."""
    log.mkdir()
    for file in events.iterdir():
        lines = [line for line in read_lines(file) if '"type":"broker_stop"' not in line]
        (log / file.name.removesuffix(".zst")).write_text("".join(lines), encoding="utf-8")
    return log


# ---- servers --------------------------------------------------------------------------------------------------------------------------


@contextmanager
def served(warehouse: Warehouse, folder: Path) -> Iterator[Running]:
    """`serve` over the warehouse, as a user starts it, its output in `folder`."""
    began = time.perf_counter()
    command = [SCRIPT, "serve", "--warehouse", warehouse.root, "--listen", f"{HOST}:0"]
    with _process(command, folder / "serve") as process:
        errors = folder / "serve.err"
        while not (found := re.search(rf"http://{HOST}:(\d+)/metrics", errors.read_text())):
            _still(process, began, errors)
        port = int(found[1])
        _await_port(process, port, began, errors)
        yield Running(process.pid, port, time.perf_counter() - began)


@contextmanager
def _bare(body: Path, folder: Path) -> Iterator[Running]:
    with socket.socket() as free:
        free.bind((HOST, 0))
        port = free.getsockname()[1]
    began = time.perf_counter()
    with _process([sys.executable, "-m", "bench.bare_server", str(body), str(port)], folder / "bare") as process:
        _await_port(process, port, began, folder / "bare.err")
        yield Running(process.pid, port, time.perf_counter() - began)


@contextmanager
def _process(command: Sequence[str], output: Path) -> Iterator["subprocess.Popen[bytes]"]:
    with output.with_suffix(".out").open("wb") as out, output.with_suffix(".err").open("wb") as err:
        process = subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=err, start_new_session=True)
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(PATIENCE_S)


def _await_port(process: "subprocess.Popen[bytes]", port: int, began: float, errors: Path) -> None:
    while True:
        try:
            urlopen(f"http://{HOST}:{port}/healthz", timeout=PATIENCE_S).close()
            return
        except OSError:
            _still(process, began, errors)


def _still(process: "subprocess.Popen[bytes]", began: float, errors: Path) -> None:
    if process.poll() is not None or time.perf_counter() - began > PATIENCE_S:
        raise SystemExit(f"the server ended with {process.poll()}, or does not answer: {errors.read_text()}")
    time.sleep(_POLL_S)


# ---- figures --------------------------------------------------------------------------------------------------------------------------


async def _texts(server: Running, folder: Path) -> dict[str, Any]:
    """Of both texts: the first answer of the process, and those that follow. Raises SystemExit for a text that is too small."""
    found: dict[str, Any] = {}
    for name, path in (("metrics", "/metrics"), ("clean", "/metrics/clean")):
        before = processor_s(server.pid)
        first = (await one_after_the_other(server.port, path, 1))[0]
        processor = processor_s(server.pid) - before
        connection = await Connection.to(server.port)
        packed = await connection.get(path)
        connection.close()
        text = gzip.decompress(packed)
        (folder / f"{name}.gz").write_bytes(packed)
        found[name] = {
            "series": sum(not line.startswith(b"#") for line in text.splitlines()),
            "bytes": len(text),
            "gzipped_bytes": len(packed),
            "first_s": round(first, 2),
            "first_processor_s": round(processor, 2),
            "warm_ms": _ms(await one_after_the_other(server.port, path, 20)),
            "warm_plain_ms": _ms(await one_after_the_other(server.port, path, 20, gzipped=False)),
        }
    if found["metrics"]["series"] < AT_LEAST:
        raise SystemExit(f"/metrics has {found['metrics']['series']:,} series, {AT_LEAST:,} are wanted")
    return found


async def _compared(server: Running, bare: Running, rounds: int) -> dict[str, Any]:
    """Both servers in turn, the order swapped every time; then PER_S scrapes a second of each."""
    ratios: list[float] = []
    for number in range(rounds + 1):
        sides = [bare, server] if number % 2 == 0 else [server, bare]
        took = {side.port: sum(await one_after_the_other(side.port, "/metrics", IN_TURN)) for side in sides}
        if number:  # the first round warms up
            ratios.append(took[bare.port] / took[server.port])
    return {
        "ratio": round(statistics.median(ratios), 3),
        "ratio_least": round(min(ratios), 3),
        "ratio_most": round(max(ratios), 3),
        "bare_scrapes": _spread(await scraped(bare.port, "/metrics", PER_S, SCRAPES_S)),
        "scrapes": _spread(await scraped(server.port, "/metrics", PER_S, SCRAPES_S)),
    }


async def _after_commits(server: Running, warehouse: Warehouse) -> dict[str, float]:
    """Seconds from a commit until `/readyz` and `/metrics` have it, which are asked all the time; COMMITS of each."""
    found: dict[str, float] = {}
    for name, path in (("readyz", "/readyz"), ("metrics", "/metrics")):
        connection, seconds = await Connection.to(server.port), list[float]()
        for number in range(COMMITS):
            before = await connection.get(path)
            await asyncio.sleep(1 + number / COMMITS)  # at another moment between two looks each time
            await asyncio.to_thread(commit_windows, warehouse)
            began = time.perf_counter()
            while await connection.get(path) == before:
                await asyncio.sleep(_POLL_S)
            seconds.append(time.perf_counter() - began)
        connection.close()
        found |= {f"{name}_p50_s": round(statistics.median(seconds), 2), f"{name}_max_s": round(max(seconds), 2)}
    return found


async def _pages(server: Running, warehouse: Warehouse) -> dict[str, Any]:
    """PAGES wait for news. Seconds from a commit until all know of it, and until all have the new page; scrapes beside them."""
    waiting = [await Connection.to(server.port) for _ in range(PAGES)]
    for one in waiting:
        await one.ask("/events", gzipped=False)
        await one.head()
    beside = _spread(await scraped(server.port, "/metrics", PER_S, SCRAPES_S // 2))
    await asyncio.to_thread(commit_windows, warehouse)
    began = time.perf_counter()
    told = await asyncio.gather(*(_after(began, one.until(b"event: changed\n")) for one in waiting))
    shown = await asyncio.gather(*(_after(began, _page(server.port)) for _ in waiting))
    for one in waiting:
        one.close()
    return {"count": PAGES, "told_s": round(max(told), 2), "shown_s": round(max(shown), 2), "scrapes": beside}


async def _page(port: int) -> None:
    connection = await Connection.to(port)
    await connection.get("/")
    connection.close()


async def _after(began: float, wait: Coroutine[Any, Any, None]) -> float:
    await wait
    return time.perf_counter() - began


def commit_windows(warehouse: Warehouse) -> None:
    """As the lanes do it: the newest window of each broker ends a second later, and the micro-batch is whole."""
    room = ReadingRoom(warehouse)
    windows = room.rows("SELECT w.* FROM broker_windows w JOIN newest_windows n ON n.broker = w.broker AND n.as_of = w.log_until")
    later = [{**row, "log_until": row["log_until"] + timedelta(seconds=1)} for row in windows]
    manifest = max(room.rows("SELECT * FROM batch_manifest WHERE query = 'lanes'"), key=lambda row: row["batch_id"])
    append_rows(warehouse, TABLES_BY_NAME["broker_windows"], later)
    versions = {**dict(manifest["table_versions"]), "broker_windows": str(ReadingRoom(warehouse).version("broker_windows"))}
    changed = {**manifest, "batch_id": manifest["batch_id"] + 1, "table_versions": versions}
    append_rows(warehouse, TABLES_BY_NAME["batch_manifest"], [changed])


def _spread(seconds: Sequence[float]) -> dict[str, float]:
    percent = statistics.quantiles(seconds, n=100, method="inclusive")
    return {"p50_ms": _rounded(percent[49]), "p99_ms": _rounded(percent[98]), "max_ms": _rounded(max(seconds))}


def _ms(seconds: Sequence[float]) -> float:
    return _rounded(statistics.median(seconds))


def _rounded(seconds: float) -> float:
    return round(1000 * seconds, 1)
