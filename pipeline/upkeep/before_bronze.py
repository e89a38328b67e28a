"""What lanes computed of events that are no longer in dispatch_events: nothing can compute it again."""

from dataclasses import dataclass
from datetime import date, datetime

from pipeline.store.arrow_reader import grouped
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import existing_tables
from schemas.tables import LANE_TABLES


@dataclass(frozen=True)
class BeforeBronze:
    """Of one broker: the oldest date in a table of lanes, and the first one of which dispatch_events has events (None: of none)."""

    broker: str
    oldest: date
    first_event: date | None

    def __str__(self) -> str:
        until = f"before {self.first_event}" if self.first_event else "on; it has no events left"
        return f"{self.broker} from {self.oldest} {until}"


def dates_before_bronze(warehouse: Warehouse) -> list[BeforeBronze]:
    """Brokers whose tables of lanes go back to an older date than their dispatch_events, by name. Reads only."""
    existing = existing_tables(warehouse)
    oldest: dict[str, date] = {}
    for table in LANE_TABLES:
        if table.age_by and table.name in existing:
            for broker, first in _oldest(warehouse, table.name, table.age_by).items():
                oldest[broker] = min(first, oldest.get(broker, first))
    events = _oldest(warehouse, "dispatch_events", "event_date") if oldest else {}
    return [
        BeforeBronze(broker, first, events.get(broker))
        for broker, first in sorted(oldest.items())
        if broker not in events or first < events[broker]
    ]


def _oldest(warehouse: Warehouse, table: str, age_by: str) -> dict[str, date]:
    """First date of each broker in `table`."""
    first = grouped(warehouse.table(table), "broker", age_by, "min")
    return {broker: at.date() if isinstance(at, datetime) else at for broker, at in first.items()}
