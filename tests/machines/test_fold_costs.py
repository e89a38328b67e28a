"""What an event costs does not grow with what is there. Rows moved inside arenas are counted, not seconds."""

import numpy as np
import pytest
from test_backlog_state import START_MS, event_rows, places

from pipeline.machines.backlog.machine import BacklogMachine
from pipeline.machines.backlog.state import ARENAS
from pipeline.machines.segments import MOVES
from schemas.lane_columns import COLUMN

#: Rows that an event may move on average: two for doubling a segment, three for laying an arena out anew, and something to spare.
MOST_MOVES = 8.0
CHUNK = 16_384


def moves_of(machine: BacklogMachine) -> int:
    """Rows moved so far, in all arenas of the machine."""
    return sum(int(getattr(machine._state, f"{name}_ends")[MOVES]) for name in ARENAS)


def moves_per_event(machine: BacklogMachine, rows: np.ndarray) -> float:
    """Rows moved on average by an event of `rows`, folded as a lane does, in slices."""
    before = moves_of(machine)
    for start in range(0, len(rows), CHUNK):
        machine.fold(rows[start : start + CHUNK])
    return (moves_of(machine) - before) / len(rows)


def published(topics: int, entries: int) -> np.ndarray:
    """Publishes of `topics` in turn, `entries` each."""
    number = np.repeat(np.arange(entries), topics)
    times = START_MS + number
    rows = event_rows("publish", len(number), 1, times, **places(number, 50_000), msgs=1, bytes=100, publish_ts=times)
    rows[:, COLUMN["topic_id"]] = 1 + np.tile(np.arange(topics), entries)
    return rows


@pytest.mark.parametrize(("topics", "entries"), [(1, 1_000), (1, 100_000), (100, 1_000), (10_000, 10), (1_000, 300)])
def test_publishing_moves_a_constant_number_of_rows(topics: int, entries: int) -> None:
    """Topics in turn: each grows while all others do."""
    assert moves_per_event(BacklogMachine(), published(topics, entries)) < MOST_MOVES


def test_a_machine_that_was_restored_has_room_to_grow() -> None:
    """A state blob keeps no room: the first events after it must not move everything."""
    machine = BacklogMachine()
    machine.fold(published(100, 1_000))
    restored = BacklogMachine.restore(machine.arrays())
    kept = moves_of(restored)
    assert kept <= 100 * 1_000 + 100  # laid out once
    rows = published(100, 1_100)[100 * 1_000 :]
    assert moves_per_event(restored, rows) == 0
