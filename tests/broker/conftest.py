"""Options of ./test.sh broker, and the scenarios at which its tests look."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from live_job import LiveJob
from scenarios.table import all_scenarios
from theatre import WINDOW_MS, Played, Theatre

from pipeline.warehouse.layout import Warehouse
from tools.live_broker.scenario import Scenario


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


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A test that is marked `of_scenario` looks at that scenario only. Where scenarios are named, tests of no scenario are left out."""
    named = bool(config.getoption("--scenario", default=[]))
    left_out = {item for item in items if _is_of_another(item) or (named and item.get_closest_marker("broker") and not scenario_of(item))}
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


def _is_of_another(item: pytest.Item) -> bool:
    only, scenario = item.get_closest_marker("of_scenario"), scenario_of(item)
    return only is not None and scenario is not None and scenario.name != only.args[0]


def scenario_of(item: pytest.Item) -> Scenario | None:
    """The scenario at which a test looks; None: at none."""
    asked = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    found = asked.get("played")
    return found if isinstance(found, Scenario) else None


@pytest.fixture(scope="session")
def theatre(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, spark_in_a_child: None) -> Iterator[Theatre]:
    """The live job starts with the first broker, and ends with the last."""
    folder = tmp_path_factory.mktemp("broker")
    (folder / "events").mkdir()
    warehouse = Warehouse(str(folder / "warehouse"))
    scenarios = {scenario.name: scenario for item in request.session.items if (scenario := scenario_of(item))}
    with LiveJob(folder / "events", warehouse, folder / "job.txt", lanes__window_ms=str(WINDOW_MS)) as job:
        theatre = Theatre(folder, job, warehouse)
        with theatre.season(list(scenarios.values())):
            yield theatre
        Path(warehouse.stop_file).touch()
        assert job.exit_code() == 0, job.said()


@pytest.fixture(scope="session")
def played(request: pytest.FixtureRequest, theatre: Theatre) -> Played:
    """One scenario, over."""
    found = theatre.played(request.param)
    keep = request.config.getoption("--keep")
    if keep is not None:
        shutil.copytree(found.capture, keep / found.scenario.name, dirs_exist_ok=True)
    return found
