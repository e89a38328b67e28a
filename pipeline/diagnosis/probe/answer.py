"""The answer of a probe: brokers as of an instant, and the rows of their topics and subscriptions."""

from typing import Any

from pipeline.diagnosis.probe.brokers import LivingBroker, brokers_at
from pipeline.diagnosis.probe.rows import TABLES, rows_of
from pipeline.lanes.lane import LaneTiming
from pipeline.query.room import ReadingRoom

#: Columns of the tables that a probe has no value for: it is no check.
_OF_CHECKS = ("check_number", "check_source")


def probe(
    room: ReadingRoom, at_us: int, settings: LaneTiming, *, broker: str | None, topic: str | None
) -> tuple[list[LivingBroker], dict[str, list[dict[str, Any]]]]:
    """Brokers as of the instant, and rows of `topic_backlog` and `subscription_backlog` as of a check then, without the columns of checks.

    `at_us`: µs since 1970. Raises BadConfig if no event lies before the instant, or none of that broker or topic; BadWarehouse if names
    are still to come.
    """
    room.open(("names", "dispatch_events", "lane_control"))
    brokers = brokers_at(room, at_us, broker, topic)
    found = rows_of(room, [one for one in brokers if not one.stopped], at_us, settings)
    tables = {}
    for name in TABLES:
        rows = [{key: value for key, value in row.items() if key not in _OF_CHECKS} for row in found[name]]
        chosen = [row for row in rows if topic is None or row["topic"] == topic]
        tables[name] = sorted(chosen, key=lambda row: [(value is not None, value) for value in row.values()])
    return brokers, tables
