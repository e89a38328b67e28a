"""The state blob of a lane (blob.py, state_layout.py). A blob of another layout is refused."""

from pipeline.lanes.blob import packed, unpacked
from pipeline.lanes.closed_places import GivenUp
from pipeline.lanes.epoch import Epoch
from pipeline.lanes.lane import Lane, LaneTiming
from pipeline.lanes.snapshot import check_stamp, restored_model, stamp, time_arrays
from pipeline.lanes.state_layout import EPOCH_NUMBERS
from pipeline.rules.array import Array


def encode(lane: Lane) -> bytes:
    """The lane's whole state."""
    arrays: dict[str, Array] = {}
    epochs = []
    for number in sorted(lane.epochs):
        epoch = lane.epochs[number]
        epochs.append({"epoch": number, **{name: getattr(epoch, name) for name in EPOCH_NUMBERS}, "alive": epoch.time is not None})
        arrays[f"{number}/given_up"] = epoch.given_up.array()
        arrays[f"{number}/held"] = epoch.held
        if epoch.time is not None:
            arrays |= time_arrays(f"{number}/", epoch.time.numbers, epoch.time.model.arrays())
    header = {**stamp(lane.settings.window_us), "newest_batch": lane.newest_batch, "epochs": epochs}
    return packed(header, arrays)


def decode(blob: bytes, settings: LaneTiming) -> Lane:
    """The lane that `encode` saw. Raises BadWarehouse for another format, layout or window length."""
    header, arrays = unpacked(blob)
    check_stamp(header, settings.window_us)
    lane = Lane(settings)
    lane.newest_batch = header["newest_batch"]
    for kept in header["epochs"]:
        number = kept["epoch"]
        time = None
        if kept["alive"]:
            time = lane.new_time(number, restored_model(f"{number}/", arrays))
            time.restore(arrays[f"{number}/time"])
        epoch = Epoch(number, counts=None, emit=None, time=time)  # type: ignore[arg-type]  # adopt() gives it both
        for name in EPOCH_NUMBERS:
            setattr(epoch, name, kept[name])
        epoch.given_up = GivenUp.from_array(arrays[f"{number}/given_up"])
        epoch.held = arrays[f"{number}/held"]
        lane.adopt(epoch)
    return lane
