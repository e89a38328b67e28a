"""A fold makes room for whatever an event can add, also where rows of a window are nearly as many as a list holds."""

import numpy as np
from busy_log import busy_log
from lane_rows import lane_rows

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
