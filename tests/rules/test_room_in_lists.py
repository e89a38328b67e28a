"""A fold makes room for whatever an event can add, however long a list is, and writes rows of lists whole."""

import numpy as np
from busy_log import busy_log
from lane_rows import lane_rows

from pipeline.rules.model import BrokerModel
from pipeline.rules.state import FIRST_LIST_CAPACITY
from schemas.lane_columns import COLUMN


def test_dispatchers_that_close_again_and_again_within_a_window_find_room() -> None:
    pattern = lane_rows(busy_log(seconds=60))
    model = BrokerModel()
    for number in range(FIRST_LIST_CAPACITY):
        events = pattern.copy()
        events[:, COLUMN["seq"]] = np.arange(number * len(pattern), (number + 1) * len(pattern)) + 1
        model.fold(events)
    assert model.state.counts.closed_limiters > FIRST_LIST_CAPACITY


def test_what_nobody_wrote_is_rubbish_in_tests() -> None:
    """So every test of lanes fails if a rule reads beyond a list (suite/rubbish.py)."""
    timers = BrokerModel().state.group("channel").timers
    assert set(timers["due_ns"].tolist()) == {0x5A5A5A5A5A5A5A5A}
