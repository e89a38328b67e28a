"""Compile the rules once, into numba's cache, so that no worker process has to: `python -m pipeline.machines.warm_up`."""

import numpy as np

from pipeline.machines.model import BrokerModel
from pipeline.machines.outcome import Window
from schemas.events import CODES
from schemas.lane_columns import COLUMN, LANE_COLUMNS


def warm_up() -> None:
    """Run every compiled rule's one signature."""
    event = np.zeros((1, len(LANE_COLUMNS)), dtype=np.int64)
    event[0, COLUMN["type_code"]], event[0, COLUMN["topic_id"]] = CODES["topic_load"], 1
    model = BrokerModel()
    model.fold(event)
    model = BrokerModel(model.arrays())
    model.probe(0, 0)
    model.has_running_time(0)
    model.step_clock(0, 0, 0)
    model.end_log(0, 0, 0)
    for _ in model.close_window(Window(0, 0, 1, 0, 0, 0, 0, 0, 0)):
        pass
    model.end_epoch(0, 0, 0)


if __name__ == "__main__":
    warm_up()
