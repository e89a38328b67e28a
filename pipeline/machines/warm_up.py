"""Compile the rules once, into numba's cache, so that no worker process has to: `python -m pipeline.machines.warm_up`."""

import numpy as np

from pipeline.machines.backlog.machine import BacklogMachine
from pipeline.machines.machine import Machine, Window
from pipeline.machines.throttle.machine import ThrottleMachine
from schemas.events import CODES
from schemas.lane_columns import COLUMN, LANE_COLUMNS


def warm_up() -> None:
    """Run every compiled rule's one signature."""
    for machine in (ThrottleMachine(), BacklogMachine()):
        _live(machine)
    loaded = np.zeros((1, len(LANE_COLUMNS)), dtype=np.int64)
    loaded[0, COLUMN["type_code"]] = CODES["topic_load"]
    backlog = BacklogMachine()
    backlog.fold(loaded)
    backlog.probe(0, 0)
    _live(BacklogMachine.restore(backlog.arrays()))


def _live(machine: Machine) -> None:
    machine.fold(np.zeros((1, len(LANE_COLUMNS)), dtype=np.int64))
    machine.has_running_time(0)
    machine.step_clock(0, 0)
    machine.end_log(0, 0)
    machine.end_epoch(0, 0)
    for _ in machine.close_window(Window(0, 0, 1, 0, 0, 0, 0)):
        pass


if __name__ == "__main__":
    warm_up()
