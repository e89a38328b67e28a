"""How much slower the job becomes live while `serve` answers over the same tables: to a page that follows it, and to a Prometheus.

One job, and one server, which is stopped (SIGSTOP) while every other file is on its way: so both kinds of files meet the same Java.
"""

import os
import signal
import statistics
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from bench.live import LiveTables, live_job
from bench.scrapes import HOST, PATIENCE_S
from bench.serve import served
from pipeline.warehouse.layout import Warehouse

#: As Prometheus asks by default.
SCRAPED_EVERY_S = 15.0
#: Of the median without the server.
MOST_SLOWER = 0.10


def bench_live_served(folder: Path) -> dict[str, Any]:
    """Medians of files with and without the server; `ratio`: those without it by those with it."""
    warehouse = f"file:{folder / 'warehouse'}"
    answers = Counter[str]()
    with (
        live_job(folder, warehouse, LiveTables(warehouse), Counter) as job,
        _asked_by_people(Warehouse(warehouse), folder, answers) as server,
    ):
        live = job.feed(lambda number: os.killpg(server, signal.SIGCONT if number % 2 else signal.SIGSTOP))
    if not {"/", "/metrics"} <= answers.keys():
        raise SystemExit(f"nobody was answered: {dict(answers)}")
    first = live.first_counted
    alone, beside = ([took for number, took in enumerate(live.seconds, first) if number % 2 == odd] for odd in (0, 1))
    p50_alone, p50_beside = statistics.median(alone), statistics.median(beside)
    return {
        "files": len(live.seconds),
        "p50_alone_s": round(p50_alone, 2),
        "p50_served_s": round(p50_beside, 2),
        "max_alone_s": round(max(alone), 2),
        "max_served_s": round(max(beside), 2),
        "ratio": round(p50_alone / p50_beside, 3),
        "answers": dict(answers),
        "within_bounds": p50_beside <= p50_alone * (1 + MOST_SLOWER),
    }


@contextmanager
def _asked_by_people(warehouse: Warehouse, folder: Path, answers: Counter[str]) -> Iterator[int]:
    """The process group of a server whose page somebody has open, and which a Prometheus scrapes. Counts answers by path."""
    ends = threading.Event()
    with served(warehouse, folder) as server:
        for reader in (_follow, _scrape):
            threading.Thread(target=reader, args=(server.port, ends, answers), daemon=True).start()
        try:
            yield server.pid
        finally:
            ends.set()
            os.killpg(server.pid, signal.SIGCONT)  # else it would not end


def _follow(port: int, ends: threading.Event, answers: Counter[str]) -> None:
    """As page.js does: news of a change, and then the page."""
    with suppress(OSError):  # the server has ended
        news = urlopen(f"http://{HOST}:{port}/events", timeout=PATIENCE_S)
        while not ends.is_set() and (line := news.readline()):
            if line.startswith(b"event: changed"):
                _get(port, "/", answers)


def _scrape(port: int, ends: threading.Event, answers: Counter[str]) -> None:
    while not ends.wait(SCRAPED_EVERY_S):
        for path in ("/metrics", "/metrics/clean"):
            _get(port, path, answers)


def _get(port: int, path: str, answers: Counter[str]) -> None:
    with suppress(OSError), urlopen(f"http://{HOST}:{port}{path}", timeout=PATIENCE_S) as answer:
        answer.read()
        answers[path] += 1
