"""How live the job is: a file every few seconds, and the seconds from its renaming until the lanes have it in the tables.

Measured as a user would: `./spark-submit.sh stream` in a process of its own, looked at from outside, on two cores.
"""

import gzip
import json
import os
import signal
import statistics
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq

from bench.measure import processor_s
from pipeline.store.arrow_reader import arrow_rows
from pipeline.store.table_log import newest_version_at
from tests.support.s3_server import BUCKET, S3, s3_server

ROOT = Path(__file__).resolve().parents[1]
LOG = ROOT / "demo" / "y_incident" / "events.jsonl.gz"
EVENTS_PER_FILE, EVERY_S = 4_000, 10.0
#: Files of the first minute are not counted: Java compiles itself then.
WARM_UP_S = 60.0
IDLE_S = 60.0
PATIENCE_S = 300.0
POLL_S = 0.02
#: What a request to the store takes.
REQUEST_S = 0.02
#: Columns of query_progress, without their unit.
PHASES = ("trigger_execution", "latest_offset", "get_batch", "query_planning", "wal_commit", "add_batch", "commit_offsets")


#: Counts requests to a store until now, by their price.
Asked = Callable[[], Counter[str]]


class LiveTables:
    """What a warehouse shows to somebody who looks from outside."""

    def __init__(self, warehouse: str) -> None:
        self._manifest = f"{warehouse}/batch_manifest"
        self._version, self._events = -1, 0

    def events(self) -> int:
        """Events that whole micro-batches of lanes have read."""
        version = newest_version_at(self._manifest)
        if version != self._version:  # read when it has grown: the job needs the processor more
            rows = arrow_rows(self._manifest, ["query", "rows_in"]).to_pylist()
            self._version, self._events = version, sum(row["rows_in"] for row in rows if row["query"] == "lanes")
        return self._events

    def wait_for(self, events: int, job: "subprocess.Popen[bytes]") -> None:
        """Until so many are there. Raises SystemExit if the job ends, or they do not come."""
        deadline = time.monotonic() + PATIENCE_S
        while self.events() < events:
            if job.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"the job ended with {job.poll()}, or {events:,} events did not come within {PATIENCE_S:.0f} s")
            time.sleep(POLL_S)


class TablesInStore(LiveTables):
    """The same of a store in this process: its objects are looked at, so that nobody who looks asks for anything."""

    def __init__(self, warehouse: str, store: S3) -> None:
        super().__init__(warehouse)
        self._store, self._folder = store, f"{warehouse.removeprefix(f's3a://{BUCKET}/')}/batch_manifest"

    def events(self) -> int:
        """Events that whole micro-batches of lanes have read."""
        while (commit := self._store.objects.get(f"{self._folder}/_delta_log/{self._version + 1:020}.json")) is not None:
            self._version += 1
            self._events += sum(map(self._read_by_lanes, _added_by(commit.content)))
        return self._events

    def _read_by_lanes(self, file: str) -> int:
        rows = pq.read_table(BytesIO(self._store.objects[f"{self._folder}/{file}"].content), columns=["query", "rows_in"])
        return sum(row["rows_in"] for row in rows.to_pylist() if row["query"] == "lanes")


def _added_by(commit: bytes) -> list[str]:
    return [action["add"]["path"] for action in map(json.loads, commit.splitlines()) if "add" in action]


def bench_live_in_store(folder: Path) -> dict[str, Any]:
    """The same with a warehouse in a store, which takes REQUEST_S for each request. The store has a part of the same two cores."""
    store, warehouse = S3(delay_s=REQUEST_S), f"s3a://{BUCKET}/warehouse"
    with s3_server(store):
        os.environ |= store.environment()
        return _live(folder, warehouse, TablesInStore(warehouse, store), lambda: Counter(map(_priced, store.requests)))


def bench_live(folder: Path) -> dict[str, Any]:
    """Start the job beside one file, rename a file into its folder every EVERY_S, then let it idle. Seconds of each."""
    warehouse = f"file:{folder / 'warehouse'}"
    return _live(folder, warehouse, LiveTables(warehouse), Counter)


def _priced(request: str) -> str:
    """Stores take ten times as much for one that writes or lists as for one that reads."""
    return "reads" if request.startswith(("GET", "HEAD")) else "deletes" if request.startswith("DELETE") else "writes_and_lists"


class LiveJob(NamedTuple):
    """A job that has read the first file, and the files that come."""

    process: "subprocess.Popen[bytes]"
    first_rows_s: float
    files: Sequence[Path]
    events: Path
    tables: LiveTables
    asked: Asked

    def feed(self, before: Callable[[int], None] = lambda number: None) -> "Fed":
        """Rename a file into the folder `events` every EVERY_S, and wait for its events each time. `before`: called with its number."""
        seconds: list[float] = []
        expected = self.tables.events()
        live_since = began = time.monotonic()
        first, asked = 0, self.asked()
        for number, file in enumerate(self.files):
            before(number)
            time.sleep(max(0.0, live_since + number * EVERY_S - time.monotonic()))
            renamed_at = time.monotonic()
            is_warm = renamed_at - live_since >= WARM_UP_S
            if is_warm and not seconds:
                first, began, asked = number, renamed_at, self.asked()
            expected += _renamed(file, self.events)
            self.tables.wait_for(expected, self.process)
            took = time.monotonic() - renamed_at
            print(f"  file {number}: {took:.2f} s", flush=True)
            if is_warm:
                seconds.append(took)
        return Fed(seconds, first, time.monotonic() - began, self.asked() - asked)


class Fed(NamedTuple):
    """Of the files after WARM_UP_S: seconds of each, the first one's number, how long all took, and requests meanwhile."""

    seconds: list[float]
    first_counted: int
    lasted_s: float
    asked: Counter[str]


@contextmanager
def live_job(folder: Path, warehouse: str, tables: LiveTables, asked: Asked) -> Iterator[LiveJob]:
    """The job, started beside one file, once that is in the tables."""
    files = list(_files(folder / "coming"))
    events = folder / "events"
    events.mkdir()
    expected = _renamed(files[0], events)
    began = time.monotonic()
    job = started(events, folder, warehouse)
    try:
        tables.wait_for(expected, job)
        first_rows_s = time.monotonic() - began
        print(f"  first rows after {first_rows_s:.1f} s", flush=True)
        yield LiveJob(job, first_rows_s, files[1:], events, tables, asked)
    finally:
        os.killpg(job.pid, signal.SIGTERM)
        job.wait(PATIENCE_S)


def _live(folder: Path, warehouse: str, tables: LiveTables, asked: Asked) -> dict[str, Any]:
    with live_job(folder, warehouse, tables, asked) as job:
        live = job.feed()
        before = asked()
        idle = _core_share(job.process.pid, IDLE_S)
        of_idling = asked() - before
    return {
        "files": len(live.seconds),
        "events_per_file": EVENTS_PER_FILE,
        "first_rows_s": round(job.first_rows_s, 1),
        "p50_s": round(statistics.median(live.seconds), 2),
        "p90_s": round(statistics.quantiles(live.seconds, n=10)[-1], 2),
        "max_s": round(max(live.seconds), 2),
        "idle_share_of_a_core": round(idle, 3),
        "requests_a_minute_idle": {kind: round(count * 60 / IDLE_S) for kind, count in of_idling.items()},
        "requests_more_a_file": {
            kind: round((count - of_idling[kind] * live.lasted_s / IDLE_S) / len(live.seconds)) for kind, count in live.asked.items()
        },
        "micro_batch_ms": _phases(warehouse, len(live.seconds)),
    }


def _phases(warehouse: str, newest: int) -> dict[str, dict[str, float]]:
    """Median milliseconds of each phase of a query's newest micro-batches with rows, by query."""
    progress = arrow_rows(f"{warehouse}/query_progress").sort_by("batch_id").to_pylist()
    found = {}
    for query in ("ingest", "lanes"):
        rows = [row for row in progress if row["query"] == query and row["rows_in"]][-newest:]
        found[query] = {name: statistics.median(row[f"{name}_ms"] for row in rows) for name in PHASES}
    return found


def _files(folder: Path) -> Iterator[Path]:
    """The log in files of EVENTS_PER_FILE lines, in order."""
    folder.mkdir()
    with gzip.open(LOG, "rb") as log:
        lines = log.readlines()
    for number, start in enumerate(range(0, len(lines), EVENTS_PER_FILE)):
        file = folder / f"{number:04}.jsonl"
        file.write_bytes(b"".join(lines[start : start + EVENTS_PER_FILE]))
        yield file


def _renamed(file: Path, events: Path) -> int:
    """Move the file where the job reads; how many events it has."""
    count = file.read_bytes().count(b"\n")
    file.rename(events / file.name)
    return count


def started(events: Path, folder: Path, warehouse: str, *options: str) -> "subprocess.Popen[bytes]":
    """The job as a user starts it, live on `events`, its output in `folder`; a process group of its own."""
    command = [str(ROOT / "spark-submit.sh"), "stream", "--events", str(events), "--warehouse", warehouse, *options]
    environ = {key: value for key, value in os.environ.items() if key not in ("SPARK_HOME", "PYSPARK_SUBMIT_ARGS", "PYSPARK_GATEWAY_PORT")}
    with (folder / "job.log").open("wb") as output:
        return subprocess.Popen([*command, "--master", "local[2]"], stdout=output, stderr=output, env=environ, start_new_session=True)


def _core_share(session: int, seconds: float) -> float:
    """What the processes of a session use of one core meanwhile."""
    before = processor_s(session)
    time.sleep(seconds)
    return (processor_s(session) - before) / seconds
