"""One live job for all scenarios, and two brokers at a time: while the tests look at one scenario, the next ones are played."""

import gzip
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from capture_events import capture_events
from compared_figures import Tables, manifest_of, until
from job_run import tables_in
from live_job import LiveJob

from pipeline.warehouse.layout import Warehouse
from tools.collector_jar import JAR
from tools.live_broker.pulsar import server
from tools.live_broker.run import play
from tools.live_broker.scenario import Scenario
from tools.live_broker.standalone import Ports, Standalone, checked_collector

#: Short, so that what holds a subscription back for seconds fills whole windows.
WINDOW_MS = 1000
#: A scenario waits most of its time: for a broker that starts, for a load, for a check of quotas.
AT_ONCE = 2


@dataclass(frozen=True)
class Played:
    """What is left of a scenario: its folder, and the tables that the live job wrote of it."""

    scenario: Scenario
    capture: Path
    whole: Tables

    @property
    def as_of_us(self) -> int:
        """When the broker's figures were asked."""
        return int(manifest_of(self.capture)["as_of_us"])

    @cached_property
    def events(self) -> list[dict[str, Any]]:
        """Events that are in the broker's figures."""
        return capture_events(self.capture)

    @cached_property
    def all_events(self) -> list[dict[str, Any]]:
        """The whole log, to the broker's end."""
        return capture_events(self.capture, until_as_of=False)

    @cached_property
    def tables(self) -> Tables:
        """The live job's tables as of the broker's figures. A slow broker checks quotas once more before it ends."""
        checks = [row for row in self.whole["quota_checks"] if row["window_start"] <= self.as_of_us]
        return until(self.whole, self.as_of_us) | {"quota_checks": checks}


@dataclass
class Theatre:
    """The folder of all logs, the live job that reads it, and a broker for each scenario."""

    folder: Path
    job: LiveJob
    warehouse: Warehouse
    _lines: dict[Path, int] = field(default_factory=dict)
    _plays: "dict[str, Future[Standalone]]" = field(default_factory=dict)

    @contextmanager
    def season(self, scenarios: Sequence[Scenario]) -> Iterator[None]:
        """Play them in this order, AT_ONCE at a time; at the end no further one begins."""
        taken: set[int] = set()
        pool = ThreadPoolExecutor(AT_ONCE)
        try:
            for scenario in scenarios:
                self._plays[scenario.name] = pool.submit(self._play, scenario, _ports(taken))
            yield
        finally:
            pool.shutdown(cancel_futures=True)

    def _play(self, scenario: Scenario, ports: Ports) -> Standalone:
        work, events = self.folder / "brokers" / scenario.name, self.folder / "events"
        broker = Standalone(server(), checked_collector(JAR), work, events, scenario.settings, ports=ports)
        play(scenario, broker, self._capture(scenario))
        return broker

    def _capture(self, scenario: Scenario) -> Path:
        return self.folder / "captures" / scenario.name

    def played(self, scenario: Scenario) -> Played:
        """Wait until it was played, and until the job has every event of it in its tables."""
        broker = self._plays[scenario.name].result()
        lines = self._lines_of_whole_files()
        self.job.wait_until(lambda: self.job.written("lanes", "applied") >= lines, f"{lines} events are in the tables")
        return Played(scenario, self._capture(scenario), tables_in(None, self.warehouse, broker=broker.name))

    def _lines_of_whole_files(self) -> int:
        """Of all brokers until now, also of one whose scenario failed."""
        for path in (self.folder / "events").glob("*.jsonl.gz"):
            if path not in self._lines and not path.name.startswith("_"):
                with gzip.open(path) as file:
                    self._lines[path] = sum(1 for _ in file)
        return sum(self._lines.values())


def _ports(taken: set[int]) -> Ports:
    """Free ports. A broker's name has its web port: no other scenario may have it, nor a broker that is about to start any of them."""
    while True:
        ports = Ports.free()
        ours = {ports.binary, ports.web, ports.otel, ports.bookie}
        if not ours & taken:
            taken |= ours
            return ports
