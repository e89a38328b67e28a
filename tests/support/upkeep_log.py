"""The log of the small warehouse that upkeep is tested on: two epochs of a broker, days apart; of the later one events are lost."""

from pathlib import Path
from typing import Any

from capture_events import capture_events
from day_logs import DAY_US, moved

FIXTURES = Path(__file__).parents[1] / "fixtures" / "captures"
DAYS_BEFORE = 3
#: Events that never arrive, in the later epoch, by position.
LOST = range(300, 307)
REJECTED = "{half"


def capture(name: str, days_before: int = 0) -> list[dict[str, Any]]:
    """A bundled capture, as if its broker had run so many days earlier."""
    return moved(capture_events(FIXTURES / name, until_as_of=False), -days_before * DAY_US)


def first_epoch() -> list[dict[str, Any]]:
    """Whole, of a date that is over."""
    return capture("f_limit_above_need", DAYS_BEFORE)


def second_epoch() -> list[dict[str, Any]]:
    """What arrives of the newest date."""
    return [event for position, event in enumerate(capture("p1_batches")) if position not in LOST]
