"""Compile the rules once, into numba's cache, so that no worker process has to: `python -m pipeline.machines.warm_up`."""

import numpy as np

from pipeline.machines.machine import Window
from pipeline.machines.throttle.machine import ThrottleMachine
from schemas.lane_columns import LANE_COLUMNS


def warm_up() -> None:
    """Run every compiled rule's one signature."""
    machine = ThrottleMachine()
    machine.fold(np.zeros((1, len(LANE_COLUMNS)), dtype=np.int64))
    machine.has_running_time(0)
    machine.step_clock(0, 0)
    machine.end_epoch(0, 0)
    for _ in machine.close_window(Window(0, 0, 1, 0, 0, 0, 0)):
        pass


if __name__ == "__main__":
    warm_up()
