"""Everything here needs a real browser, and looks at pages of two warehouses: the demo's, and one with hostile names and partitions."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from broker_scrapes import ALWAYS
from capture_events import write_events
from chromium import chromium
from loaded import load_into
from looked_at import Visitor
from served import Served, served

if TYPE_CHECKING:
    from playwright.sync_api import Browser

(INCIDENT,) = (scrape for scrape in ALWAYS if scrape.name == "y_incident")
#: What a stranger may call a topic and a subscription.
EVIL_TOPIC = "persistent://real/y/<img src=x onerror=alert(1)>"
EVIL_SUBSCRIPTION = '"><script>alert(1)</script>\u202e'
EVIL = {"persistent://real/y/refunds": EVIL_TOPIC, "desk": EVIL_SUBSCRIPTION}
#: A topic of the incident is there a second time, in so many partitions.
PARTITIONED, PARTITIONS = "persistent://real/y/payments", 3


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Only `./test.sh browser` runs these."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    with chromium() as made:
        yield made


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The incident of the demo, to the end of its log: the broker has stopped."""
    with served(load_into(INCIDENT.log, tmp_path_factory.mktemp("demo") / "w")) as made:
        yield made


@pytest.fixture(scope="session")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The incident while it goes on, with names that are markup, with partitions, and with events lost amid it."""
    folder = tmp_path_factory.mktemp("odd")
    events = [_renamed(event) for event in INCIDENT.events()]
    copies = [
        {**event, "topic": f"persistent://real/y/parts-partition-{number}"}
        for number in range(PARTITIONS)
        for event in events
        if event.get("topic") == PARTITIONED
    ]
    in_order = sorted([*events, *copies], key=lambda event: event["ns"])
    log = write_events([{**event, "seq": seq} for seq, event in enumerate(in_order, 1)], folder / "log" / "events.jsonl.gz").parent
    with served(load_into(log, folder / "warehouse", lanes__window_ms="10000")) as made:
        yield made


@pytest.fixture
def visitor(browser: "Browser") -> Iterator[Visitor]:
    """Opens pages; at the end nothing was wrong on any of them, and nothing of another place was asked for."""
    made = Visitor(browser)
    yield made
    made.leave()
    assert made.faults == []


def _renamed(event: dict[str, object]) -> dict[str, object]:
    """Every text of it that is one of the names."""
    return {key: EVIL.get(value, value) if isinstance(value, str) else value for key, value in event.items()}


def pytest_addoption(parser: pytest.Parser) -> None:
    """`./test.sh browser --pictures DIR`."""
    parser.addoption("--pictures", type=Path, metavar="DIR", help="keep a picture of each page, wide and narrow, light and dark")
