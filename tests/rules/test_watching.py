"""From which acknowledgement on a cursor is looked at. test_cause_invariants.py has logs."""

import pytest

from pipeline.rules.broker.layout import NO_CURSOR
from pipeline.rules.cause.layout import CATCHING_UP, CHARGE_ROW, IN_FLIGHT
from pipeline.rules.cause.watching import watch
from pipeline.rules.compiled import compiled
from pipeline.rules.integers import INT64_MAX
from pipeline.rules.records import Record, blank


@compiled
def look_at_after(charge: Record, cursor: Record) -> int:
    watch(charge, cursor)
    return cursor.look_at


@pytest.mark.parametrize(
    ("charge", "look_at"),
    [
        ({"running": 0, "backlog_seen": 3}, INT64_MAX),
        ({"running": 1, "account": IN_FLIGHT, "charged_to": IN_FLIGHT, "acknowledged_seen": 5, "backlog_seen": 3}, 8),
        ({"running": 1, "account": CATCHING_UP, "charged_to": IN_FLIGHT, "acknowledged_seen": 5, "backlog_seen": 3}, 0),
        ({"running": 1, "account": IN_FLIGHT, "charged_to": IN_FLIGHT, "acknowledged_seen": 5, "backlog_seen": INT64_MAX}, INT64_MAX),
    ],
    ids=["no backlog", "all of it acknowledged", "most of it elsewhere", "saturated"],
)
def test_a_cursor_is_looked_at_from_the_first_acknowledgement_that_may_matter(charge: dict[str, int], look_at: int) -> None:
    assert look_at_after(blank(CHARGE_ROW, **charge)[0], NO_CURSOR.copy()[0]) == look_at
