"""Everything here needs a real browser, and looks at pages of two warehouses: the demo's, and one with hostile names and partitions."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from broker_scrapes import ALWAYS
from capture_events import write_events
from chromium import chromium
from loaded import load_into
from looked_at import Visitor
from served import Served, served

from pipeline.warehouse.layout import Warehouse

if TYPE_CHECKING:
    from playwright.sync_api import Browser

(INCIDENT,) = (scrape for scrape in ALWAYS if scrape.name == "y_incident")
#: What a stranger may call a topic and a subscription.
EVIL_TOPIC = "persistent://real/y/<img src=x onerror=alert(1)>"
EVIL_SUBSCRIPTION = '"><script>alert(1)</script>\u202e'
EVIL = {"persistent://real/y/refunds": EVIL_TOPIC, "desk": EVIL_SUBSCRIPTION}
#: A topic of the incident is there a second time, in so many partitions.
PARTITIONED, PARTITIONS = "persistent://real/y/payments", 3


#: The log of the second warehouse has nothing of these seconds: 11:47:22 to 11:47:25.
LOST_FROM_US, LOST_US = 1_795_261_642_000_000, 3_000_000


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Only `./test.sh browser` runs these."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@dataclass(frozen=True)
class Warehouses:
    """`demo`: the incident of the demo, to the end of its log: the broker has stopped. `amid`: while it goes on. `odd`: the same with names
    that are markup, with partitions, and with events lost amid it.
    """

    demo: Warehouse
    amid: Warehouse
    odd: Warehouse


@pytest.fixture(scope="session")
def warehouses(tmp_path_factory: pytest.TempPathFactory) -> Warehouses:
    """All are loaded before a browser or a server runs in this process: a load forks it, and threads do not survive that."""
    folder = tmp_path_factory.mktemp("warehouses")
    events = INCIDENT.events()
    return Warehouses(
        load_into(INCIDENT.log, folder / "demo"),
        load_into(write_events(events, folder / "amid.log" / "events.jsonl.gz").parent, folder / "amid"),
        load_into(write_events(_odd(events), folder / "odd.log" / "events.jsonl.gz").parent, folder / "odd", lanes__window_ms="10000"),
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


def _odd(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """With other names, with partitions, and with a gap."""
    renamed = [_renamed(event) for event in events]
    copies = [
        {**event, "topic": f"persistent://real/y/parts-partition-{number}"}
        for number in range(PARTITIONS)
        for event in events
        if event.get("topic") == PARTITIONED
    ]
    numbered = [{**event, "seq": seq} for seq, event in enumerate(sorted([*renamed, *copies], key=lambda event: event["ns"]), 1)]
    return [event for event in numbered if not LOST_FROM_US <= event["ts"] < LOST_FROM_US + LOST_US]


def _renamed(event: dict[str, Any]) -> dict[str, Any]:
    """Every text of it that is one of the names."""
    return {key: EVIL.get(value, value) if isinstance(value, str) else value for key, value in event.items()}


def pytest_addoption(parser: pytest.Parser) -> None:
    """`./test.sh browser --pictures DIR`."""
    parser.addoption("--pictures", type=Path, metavar="DIR", help="keep a picture of each page, wide and narrow, light and dark")
