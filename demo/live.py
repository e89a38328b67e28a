"""The demo with --live: a real broker with the collector, a load with trouble in it, the stream; and the tables while all of it runs."""

import json
import os
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from console.named_warehouse import named_warehouse
from console.shown import aligned, say
from demo.folder import make_room
from demo.job_lines import job_lines_in
from demo.page import Page
from demo.report import report
from driver.session import LITTLE_DATA, build_session
from driver.streaming import run_stream
from pipeline.faults import BadConfig
from pipeline.settings import load_settings
from pipeline.store.address import local_path
from tools.collector_jar import JAR, build
from tools.live_broker.scenario import Scenario
from tools.live_broker.standalone import Standalone, checked_collector

#: The load; with the starts of Spark and broker before it, and figures, the rest of the log and the comparison after it, three minutes.
LOAD_S = 90.0
SHOW_S = 10.0
#: Windows that close while somebody watches.
WINDOW_MS = 5_000
PATIENCE_S = 120.0


def run_live(shown_warehouse: str, page: Page | None, *, tables: bool) -> int:
    """Run broker and stream together, then compare. 0: everything equal; 1: something differs, or it was stopped.

    `page`: it is served from the begin on, and after the end until Ctrl-C. `tables`: as for `report`.
    """
    place = _place_of(shown_warehouse)
    lines = place.with_name(f"{place.name}-job.log")
    with tempfile.TemporaryDirectory(prefix="dispatch-demo-live-") as folder, ExitStack() as served:
        scenario, broker = prepared(Path(folder))
        say(f"{scenario.what}\n\nstarting Spark and a broker; then {LOAD_S:.0f} s of load. What the job prints is in {lines}")
        with job_lines_in(lines) as screen:
            spark = build_session("dispatch-analytics demo", LITTLE_DATA)
            warehouse = named_warehouse(shown_warehouse)
            make_room(warehouse)
            if page is not None:
                served.enter_context(page.served(warehouse))
                screen(f"the page: {page.url}")
            show = Show(scenario, broker, Path(folder) / "capture", warehouse, screen)
            code = _run_together(spark, show)
        if show.is_complete and code == 0:
            code = report(warehouse, shown_warehouse, show.capture, tables=tables)
            if page is not None:
                page.wait(say)
            return code
        say(f"the demo was stopped before its end{f': {show.fault}' if show.fault else ''}; the job's last lines are in {lines}")
        return 1


def _run_together(spark: Any, show: "Show") -> int:
    """The stream on this thread, the broker's side and the answers on others; the stream's exit status. Both have ended then, and Spark."""
    settings = load_settings(None, [f"lanes.window_ms={WINDOW_MS}"], os.environ)
    threads = [threading.Thread(target=work, daemon=True) for work in (show.play, show.watch)]
    for thread in threads:
        thread.start()
    try:
        return run_stream(spark, show.broker.events.as_uri(), show.warehouse.root, settings, once=False, drain=False)
    finally:
        show.stream_ended.set()
        show.broker.kill()
        spark.stop()


def _place_of(shown_warehouse: str) -> Path:
    """The folder of the warehouse. Raises BadConfig where it is not on this machine's file system."""
    place = local_path(named_warehouse(shown_warehouse).root)
    if place is None:
        raise BadConfig(f"--warehouse {shown_warehouse} is not on this machine; --live reads the tables while they grow, here only")
    return place.resolve()


def prepared(folder: Path) -> tuple[Scenario, Standalone]:
    """Everything that may have to be fetched or made, before anything starts. BadConfig if it cannot."""
    from tools.live_broker.incident import incident
    from tools.live_broker.pulsar import server

    if not JAR.exists():
        build()
    scenario = incident(LOAD_S)
    (folder / "events").mkdir()
    return scenario, Standalone(server(), checked_collector(JAR), folder / "broker", folder / "events", scenario.settings)


@dataclass
class Show:
    """The broker's side of the demo, on threads of its own: the stream has the main thread, and is stopped by its stop file."""

    scenario: Scenario
    broker: Standalone
    #: The scenario's log and the broker's figures, when it is over.
    capture: Path
    warehouse: Any
    #: Prints for the person who watches.
    screen: Callable[[str], None]
    fault: Exception | None = None
    is_complete: bool = False
    is_over: threading.Event = field(default_factory=threading.Event)
    stream_ended: threading.Event = field(default_factory=threading.Event)

    def play(self) -> None:
        """Play the incident, wait until its log is in the tables, stop the stream. A fault is kept for the main thread."""
        from tools.live_broker.run import play

        try:
            play(self.scenario, self.broker, self.capture)
            events = json.loads((self.capture / "manifest.json").read_text(encoding="utf-8"))["events"]
            self.screen(f"the broker has ended after {events:,} events; the last of them are on their way")
            self._wait_for(events)
            self.is_complete = True
        except Exception as fault:  # noqa: BLE001  # whatever it is, the main thread reports it
            self.fault = fault
        finally:
            self.is_over.set()
            # Again and again: a stream that is only starting forgets a request to an earlier one.
            while not self.stream_ended.is_set():
                Path(self.warehouse.stop_file.removeprefix("file:")).touch()
                self.stream_ended.wait(1)

    def watch(self) -> None:
        """Print what the tables have, every few seconds, from the first answer to the end."""
        while not self.is_over.wait(SHOW_S) and not self.stream_ended.is_set():
            found = self.shown()
            if found is not None:
                self.screen(f"\n{found}\n")

    def shown(self) -> str | None:
        """What `top` shows of the shop's topics, which Pulsar's own are not among; None before a first window is over."""
        from pipeline.diagnosis.ranking import COLUMNS, cells, newest, ordered, worst
        from pipeline.query.room import ReadingRoom

        found = worst(ReadingRoom(self.warehouse, consistent=True))
        as_of = newest(found)
        if as_of is None:
            return None
        shop = [row for row in ordered(found, "backlog") if "/__" not in row["topic"]]
        rows = [cells({**row, "topic": row["topic"].removeprefix("persistent://")}) for row in shop]
        return f"{now()}  in the tables, as of {as_of:%H:%M:%S}\n\n{aligned(COLUMNS, rows)}"

    def _wait_for(self, events: int) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while self._applied() < events:
            if time.monotonic() > deadline or self.stream_ended.is_set():
                raise TimeoutError(f"of {events:,} events {self._applied():,} are in the tables after {PATIENCE_S:.0f} s")
            time.sleep(0.5)

    def _applied(self) -> int:
        counts = Counter[str]()
        for row in self._rows("batch_manifest", ("query", "applied")):
            counts[row["query"]] += row["applied"] or 0
        return counts["lanes"]

    def _rows(self, table: str, columns: tuple[str, ...]) -> list[dict[str, Any]]:
        """Without Spark, which has the stream to run."""
        from deltalake.exceptions import TableNotFoundError

        from pipeline.store.arrow_reader import dataset_at

        try:
            found = dataset_at(self.warehouse.table(table))
        except TableNotFoundError:
            return []
        return list(found.to_table(columns=list(columns)).to_pylist())


def now() -> str:
    """The time of day, UTC, as the tables have it."""
    return f"{datetime.now(UTC):%H:%M:%S}"
