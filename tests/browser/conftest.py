"""Everything here needs a real browser, and looks at pages of two warehouses: the demo's, and one with hostile names and partitions."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browsed import INCIDENT, Warehouses, odd_events
from capture_events import write_events
from chromium import chromium
from loaded import load_into
from looked_at import Visitor
from served import Served, served

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def warehouses(tmp_path_factory: pytest.TempPathFactory) -> Warehouses:
    """All are loaded before a browser or a server runs in this process: a load forks it, and threads do not survive that."""
    folder = tmp_path_factory.mktemp("warehouses")
    events = INCIDENT.events()
    return Warehouses(
        load_into(INCIDENT.log, folder / "demo"),
        load_into(write_events(events, folder / "amid.log" / "events.jsonl.gz").parent, folder / "amid"),
        load_into(
            write_events(odd_events(events), folder / "odd.log" / "events.jsonl.gz").parent, folder / "odd", lanes__window_ms="10000"
        ),
    )


@pytest.fixture(scope="session")
def browser(warehouses: Warehouses) -> Iterator["Browser"]:
    with chromium() as made:
        yield made


@pytest.fixture(scope="session")
def demo(warehouses: Warehouses) -> Iterator[Served]:
    with served(warehouses.demo) as made:
        yield made


@pytest.fixture(scope="session")
def odd(warehouses: Warehouses) -> Iterator[Served]:
    with served(warehouses.odd) as made:
        yield made


@pytest.fixture
def visitor(browser: "Browser") -> Iterator[Visitor]:
    """Opens pages; at the end nothing was wrong on any of them, and nothing of another place was asked for."""
    made = Visitor(browser)
    yield made
    made.leave()
    assert made.faults == []


def pytest_addoption(parser: pytest.Parser) -> None:
    """`./test.sh browser --pictures DIR`."""
    parser.addoption("--pictures", type=Path, metavar="DIR", help="keep a picture of each page, wide and narrow, light and dark")
