"""What is kept of an epoch's time and machines: for the state blob of a lane, and for the snapshot of a day's end."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pipeline.faults import BadWarehouse
from pipeline.lanes.blob import packed, unpacked
from pipeline.machines.array import Array
from pipeline.machines.backlog.machine import BacklogMachine
from pipeline.machines.machine import Machine
from pipeline.machines.throttle.machine import ThrottleMachine

#: In the order in which an epoch drives them.
MACHINES: dict[str, type[ThrottleMachine] | type[BacklogMachine]] = {kind.name: kind for kind in (ThrottleMachine, BacklogMachine)}


def new_machines() -> Sequence[Machine]:
    """The machines of a new epoch."""
    return [kind() for kind in MACHINES.values()]


def stamp(machines: Iterable[Machine | type[Machine]], window_us: int) -> dict[str, Any]:
    """What must be equal where a state is opened: versions of the machines, and the length of windows."""
    return {"machines": {machine.name: machine.version for machine in machines}, "window_ms": window_us // 1000}


def check_stamp(header: dict[str, Any], window_us: int) -> None:
    """Raise BadWarehouse unless a state of these machines and windows can be opened here."""
    expected = stamp(MACHINES.values(), window_us)
    if {name: header[name] for name in expected} != expected:
        raise BadWarehouse(
            f"lane state was written by machines {header['machines']} with lanes.window_ms={header['window_ms']}, this is "
            f"{expected['machines']} with {expected['window_ms']}: run ./spark-submit.sh rebuild lanes --warehouse WAREHOUSE"
        )


def time_arrays(
    prefix: str, numbers: Array, machines: Iterable[Machine], arrays_of: Callable[[Machine], dict[str, Array]]
) -> dict[str, Array]:
    """An epoch's time and machines by name, each name after `prefix`."""
    arrays = {f"{prefix}time": numbers}
    for machine in machines:
        arrays |= {f"{prefix}{machine.name}/{name}": array for name, array in arrays_of(machine).items()}
    return arrays


def restored_machines(prefix: str, arrays: dict[str, Array]) -> list[Machine]:
    """The machines that `time_arrays` saw."""
    return [_machine(f"{prefix}{name}/", kind, arrays) for name, kind in MACHINES.items()]


def _machine(prefix: str, kind: type[ThrottleMachine] | type[BacklogMachine], arrays: dict[str, Array]) -> Machine:
    return kind.restore({name[len(prefix) :]: array for name, array in arrays.items() if name.startswith(prefix)})


def snapshot(numbers: Array, machines: Sequence[Machine], window_us: int) -> bytes:
    """An epoch's state as bytes that are equal for equal states, however the epoch came to it."""
    return packed(stamp(machines, window_us), time_arrays("", numbers, machines, lambda machine: machine.ordered_arrays()))


def opened_snapshot(state: bytes, window_us: int) -> tuple[Array, list[Machine]]:
    """(numbers, machines) that `snapshot` saw; BadWarehouse for one of another version or window length."""
    header, arrays = unpacked(state)
    check_stamp(header, window_us)
    return arrays["time"], restored_machines("", arrays)
