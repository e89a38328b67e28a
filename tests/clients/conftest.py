"""A running `serve` for all clients here: a real broker's log, with two of its topics a second time as partitions."""

from collections.abc import Iterator

import pytest
from broker_scrapes import ALWAYS, Scrape
from capture_events import write_events
from loaded import load_into
from served import Served, served

(INCIDENT,) = (scrape for scrape in ALWAYS if scrape.name == "y_incident")
#: Topic of the capture → the name that it has a second time.
PARTITIONS = {
    "persistent://real/y/orders": "persistent://real/y/parts-partition-0",
    "persistent://real/y/refunds": "persistent://real/y/parts-partition-1",
}


@pytest.fixture(scope="session")
def incident() -> Scrape:
    return INCIDENT


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("clients")
    events = INCIDENT.events()
    copies = [{**event, "topic": PARTITIONS[event["topic"]]} for event in events if event.get("topic") in PARTITIONS]
    in_order = sorted([*events, *copies], key=lambda event: event["ns"])
    log = write_events([{**event, "seq": seq} for seq, event in enumerate(in_order, 1)], folder / "log" / "events.jsonl.gz").parent
    # Windows end often: an instant of the past has its own figures.
    with served(load_into(log, folder / "warehouse", lanes__window_ms="10000")) as made:
        yield made
