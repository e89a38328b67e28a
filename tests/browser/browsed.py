"""What the browser looks at: the incident of the demo, and the same with hostile names, partitions and a gap."""

from dataclasses import dataclass
from typing import Any

from broker_scrapes import ALWAYS

from pipeline.warehouse.layout import Warehouse

(INCIDENT,) = (scrape for scrape in ALWAYS if scrape.name == "y_incident")
#: What a stranger may call a topic and a subscription.
EVIL_TOPIC = "persistent://real/y/<img src=x onerror=alert(1)>"
EVIL_SUBSCRIPTION = '"><script>alert(1)</script>\u202e'
EVIL = {"persistent://real/y/refunds": EVIL_TOPIC, "desk": EVIL_SUBSCRIPTION}
#: A topic of the incident is there a second time, in so many partitions.
PARTITIONED, PARTITIONS = "persistent://real/y/payments", 3


#: The log of the second warehouse has nothing of these seconds: 11:47:22 to 11:47:25.
LOST_FROM_US, LOST_US = 1_795_261_642_000_000, 3_000_000


@dataclass(frozen=True)
class Warehouses:
    """`demo`: the incident of the demo, to the end of its log: the broker has stopped. `amid`: while it goes on. `odd`: the same with names
    that are markup, with partitions, and with events lost amid it.
    """

    demo: Warehouse
    amid: Warehouse
    odd: Warehouse


def odd_events(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
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
