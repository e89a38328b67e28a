"""What is kept of an epoch's time and model: for the state blob of a lane, and for the snapshot of a day's end."""

from typing import Any

from pipeline.faults import BadWarehouse
from pipeline.lanes.blob import packed, unpacked
from pipeline.rules.array import Array
from pipeline.rules.model import BrokerModel


def stamp(window_us: int) -> dict[str, Any]:
    """What must be equal where a state is opened, beside its layout: the length of windows."""
    return {"window_ms": window_us // 1000}


def check_stamp(header: dict[str, Any], window_us: int) -> None:
    """Raise BadWarehouse unless a state of such windows can be opened here."""
    expected = stamp(window_us)["window_ms"]
    if header["window_ms"] != expected:
        raise BadWarehouse(
            f"lane state was written with lanes.window_ms={header['window_ms']}, this is {expected}: "
            "run ./spark-submit.sh rebuild lanes --warehouse WAREHOUSE"
        )


def time_arrays(prefix: str, numbers: Array, model: dict[str, Array]) -> dict[str, Array]:
    """An epoch's time and model by name, each name after `prefix`."""
    return {f"{prefix}time": numbers, **{f"{prefix}model/{name}": array for name, array in model.items()}}


def restored_model(prefix: str, arrays: dict[str, Array]) -> BrokerModel:
    """The model that `time_arrays` saw."""
    of_model = f"{prefix}model/"
    return BrokerModel({name[len(of_model) :]: array for name, array in arrays.items() if name.startswith(of_model)})


def snapshot(numbers: Array, model: BrokerModel, window_us: int) -> bytes:
    """An epoch's state as bytes that are equal for equal states, however the epoch came to it."""
    return packed(stamp(window_us), time_arrays("", numbers, model.ordered_arrays()))


def opened_snapshot(state: bytes, window_us: int) -> tuple[Array, BrokerModel]:
    """(numbers, model) that `snapshot` saw; BadWarehouse for one of another layout or window length."""
    header, arrays = unpacked(state)
    check_stamp(header, window_us)
    return arrays["time"], restored_model("", arrays)
