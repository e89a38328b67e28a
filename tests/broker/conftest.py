"""One live job for all scenarios, and one broker at a time: each scenario is played once, then every test looks at what came of it."""

import gzip
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from capture_events import capture_events
from compared_figures import Tables, manifest_of, until
from job_run import tables_in
from live_job import LiveJob
from scenarios.table import all_scenarios

from jobs.collector import JAR
from jobs.live_broker.run import play
from jobs.live_broker.scenario import Scenario
from jobs.live_broker.standalone import Standalone, checked_collector
from pipeline.warehouse.layout import Warehouse


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of ./test.sh broker."""
    parser.addoption("--scenario", action="append", default=[], metavar="NAME", help="only this one; repeatable")
    parser.addoption("--keep", metavar="DIR", type=Path, help="keep logs and figures there, a folder for each scenario")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Each test that asks for `played` looks at every scenario, or at those that were named."""
    if "played" in metafunc.fixturenames:
        known = all_scenarios()
        wanted = metafunc.config.getoption("--scenario", default=[]) or list(known)
        unknown = sorted(set(wanted) - known.keys())
        if unknown:
            raise pytest.UsageError(f"no scenario {', '.join(unknown)}; there are: {', '.join(known)}")
        metafunc.parametrize("played", [known[name] for name in wanted], ids=wanted, indirect=True, scope="session")


@dataclass(frozen=True)
class Played:
    """What is left of a scenario: its folder, and the tables that the live job wrote of it."""

    scenario: Scenario
    capture: Path
    whole: Tables

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
        """The live job's tables as of the broker's figures."""
        return until(self.whole, manifest_of(self.capture)["as_of_us"])


class Theatre:
    """The folder of all logs, the live job that reads it, and a broker for each scenario."""

    def __init__(self, folder: Path, job: LiveJob, warehouse: Warehouse) -> None:
        self._folder, self._job, self._warehouse = folder, job, warehouse
        self._lines: dict[Path, int] = {}

    def play(self, scenario: Scenario) -> Played:
        """Play it, and wait until the job has every event of it in its tables."""
        events = self._folder / "events"
        broker = Standalone(self._server(), checked_collector(JAR), self._folder / "brokers" / scenario.name, events, scenario.settings)
        capture = self._folder / "captures" / scenario.name
        play(scenario, broker, capture)
        lines = self._lines_of_whole_files(events)
        self._job.wait_until(lambda: self._job.written("lanes", "applied") >= lines, f"{lines} events are in the tables")
        tables = tables_in(None, self._warehouse)  # type: ignore[arg-type]  # local tables are read without Spark
        ours = {name: [row for row in rows if row["broker"] == broker.name] for name, rows in tables.items()}
        return Played(scenario, capture, ours)

    def _lines_of_whole_files(self, folder: Path) -> int:
        """Of all brokers until now, also of one whose scenario failed."""
        for path in folder.glob("*.jsonl.gz"):
            if path not in self._lines and not path.name.startswith("_"):
                with gzip.open(path) as file:
                    self._lines[path] = sum(1 for _ in file)
        return sum(self._lines.values())

    def _server(self) -> Path:
        from jobs.live_broker.pulsar import server

        return server()


@pytest.fixture(scope="session")
def theatre(tmp_path_factory: pytest.TempPathFactory, spark_in_a_child: None) -> Iterator[Theatre]:
    """The live job starts with the first broker, and ends with the last."""
    folder = tmp_path_factory.mktemp("broker")
    (folder / "events").mkdir()
    warehouse = Warehouse(str(folder / "warehouse"))
    with LiveJob(folder / "events", warehouse, folder / "job.txt") as job:
        yield Theatre(folder, job, warehouse)
        Path(warehouse.stop_file).touch()
        assert job.exit_code() == 0, job.said()


@pytest.fixture(scope="session")
def played(request: pytest.FixtureRequest, theatre: Theatre) -> Played:
    """One scenario, over."""
    found = theatre.play(request.param)
    keep = request.config.getoption("--keep")
    if keep is not None:
        shutil.copytree(found.capture, keep / found.scenario.name, dirs_exist_ok=True)
    return found
