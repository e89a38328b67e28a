"""A fold makes room for whatever an event can add, however long a list is, and writes rows of lists whole."""

import numpy as np
import pytest
from busy_log import busy_log
from capture_events import capture_events
from lane_rows import lane_rows
from lane_tables import tables_of
from real_captures import CAPTURES, EVERY_CAPTURE

from pipeline.machines import state
from pipeline.machines.array import Array
from pipeline.machines.model import BrokerModel
from pipeline.machines.state import FIRST_LIST_CAPACITY
from schemas.lane_columns import COLUMN


def test_dispatchers_that_close_again_and_again_within_a_window_find_room() -> None:
    pattern = lane_rows(busy_log(seconds=60))
    model = BrokerModel()
    for number in range(FIRST_LIST_CAPACITY):
        events = pattern.copy()
        events[:, COLUMN["seq"]] = np.arange(number * len(pattern), (number + 1) * len(pattern)) + 1
        model.fold(events)
    assert model.state.counts.closed_limiters > FIRST_LIST_CAPACITY


@EVERY_CAPTURE
def test_nothing_that_lies_in_the_room_of_a_list_comes_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    events = capture_events(CAPTURES / name, until_as_of=False)
    as_ever = tables_of(events)
    with_room = state.with_room

    def with_rubbish(rows: Array, used: int, capacity: int) -> Array:
        larger = with_room(rows, used, capacity)
        larger.view(np.uint8).reshape(capacity, -1)[used:] = 0x5A
        return larger

    monkeypatch.setattr(state, "with_room", with_rubbish)
    assert tables_of(events) == as_ever
