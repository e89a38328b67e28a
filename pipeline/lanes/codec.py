"""The state blob of a lane: a published format. Magic and version, then one zstd frame: a JSON header that names arrays, and their bytes.

No pickles: whoever can read numpy arrays can read a blob. A blob of another version, or of a machine of another version, is refused.
"""

import json
import struct
from typing import Any

import numpy as np
import pyarrow as pa

from pipeline.faults import BadWarehouse, invariant
from pipeline.lanes.epoch import Epoch
from pipeline.lanes.given_up import GivenUp
from pipeline.lanes.lane import Lane, LaneSettings
from pipeline.machines.array import Array
from pipeline.machines.backlog.machine import NAME as BACKLOG
from pipeline.machines.backlog.machine import VERSION as BACKLOG_VERSION
from pipeline.machines.backlog.machine import BacklogMachine
from pipeline.machines.machine import Machine
from pipeline.machines.throttle.machine import NAME as THROTTLE
from pipeline.machines.throttle.machine import VERSION as THROTTLE_VERSION
from pipeline.machines.throttle.machine import ThrottleMachine

MAGIC = b"DLAN"
VERSION = 2
_PREFIX = struct.Struct("<4sIQ")  # magic, version, length of the payload before compression
_HEADER_LENGTH = struct.Struct("<I")
#: In the order in which an epoch drives them.
MACHINES: dict[str, tuple[int, type[ThrottleMachine] | type[BacklogMachine]]] = {
    THROTTLE: (THROTTLE_VERSION, ThrottleMachine),
    BACKLOG: (BACKLOG_VERSION, BacklogMachine),
}


def encode(lane: Lane) -> bytes:
    """The lane's whole state."""
    arrays: dict[str, Array] = {}
    epochs = []
    for number in sorted(lane.epochs):
        epoch = lane.epochs[number]
        epochs.append(
            {
                "epoch": number, "phase": epoch.phase, "next_seq": epoch.next_seq, "mature_batch": epoch.mature_batch,
                "last_batch": epoch.last_batch, "lived_ns": epoch.lived_ns, "alive": epoch.time is not None,
            }
        )  # fmt: skip
        arrays[f"{number}/given_up"] = epoch.given_up.array()
        arrays[f"{number}/held"] = epoch.held
        if epoch.time is not None:
            arrays[f"{number}/time"] = epoch.time.numbers
            for name, machine in zip(MACHINES, epoch.time.machines, strict=True):
                for array_name, array in machine.arrays().items():
                    arrays[f"{number}/{name}/{array_name}"] = array
    header = {
        "machines": {name: version for name, (version, _) in MACHINES.items()},
        "newest_batch": lane.newest_batch,
        "window_ms": lane.settings.window_ms,
        "epochs": epochs,
        "arrays": [[name, array.dtype.str, list(array.shape)] for name, array in arrays.items()],
    }
    return _packed(header, list(arrays.values()))


def decode(blob: bytes, settings: LaneSettings) -> Lane:
    """The lane that `encode` saw. Raises BadWarehouse for another format, version, machine version or window length."""
    header, arrays = _unpacked(blob)
    expected = {name: version for name, (version, _) in MACHINES.items()}
    if header["machines"] != expected or header["window_ms"] != settings.window_ms:
        raise BadWarehouse(
            f"lane state was written by machines {header['machines']} with lanes.window_ms={header['window_ms']}, this is {expected} with "
            f"{settings.window_ms}: run ./spark-submit.sh rebuild lanes --warehouse WAREHOUSE"
        )
    lane = Lane(settings)
    lane.newest_batch = header["newest_batch"]
    for kept in header["epochs"]:
        number = kept["epoch"]
        time = None
        if kept["alive"]:
            time = lane.new_time(number, [_machine(name, number, arrays) for name in MACHINES])
            time.restore(arrays[f"{number}/time"])
        epoch = Epoch(number, counts=None, emit=None, time=time)  # type: ignore[arg-type]  # adopt() gives it both
        for name in ("phase", "next_seq", "mature_batch", "last_batch", "lived_ns"):
            setattr(epoch, name, kept[name])
        epoch.given_up = GivenUp.from_array(arrays[f"{number}/given_up"])
        epoch.held = arrays[f"{number}/held"]
        lane.adopt(epoch)
    return lane


def _machine(name: str, epoch: int, arrays: dict[str, Array]) -> Machine:
    prefix = f"{epoch}/{name}/"
    return MACHINES[name][1].restore({key[len(prefix) :]: array for key, array in arrays.items() if key.startswith(prefix)})


def _packed(header: dict[str, object], arrays: list[Array]) -> bytes:
    text = json.dumps(header, separators=(",", ":")).encode()
    payload = b"".join([_HEADER_LENGTH.pack(len(text)), text, *(np.ascontiguousarray(array).tobytes() for array in arrays)])
    return _PREFIX.pack(MAGIC, VERSION, len(payload)) + pa.compress(payload, codec="zstd", asbytes=True)


def _unpacked(blob: bytes) -> tuple[dict[str, Any], dict[str, Array]]:
    magic, version, length = _PREFIX.unpack_from(blob) if len(blob) >= _PREFIX.size else (b"", 0, 0)
    if magic != MAGIC or version != VERSION:
        raise BadWarehouse(
            f"lane state has format {magic!r} version {version}, this is {MAGIC!r} version {VERSION}: "
            "run ./spark-submit.sh rebuild lanes --warehouse WAREHOUSE"
        )
    payload = pa.decompress(blob[_PREFIX.size :], decompressed_size=length, codec="zstd", asbytes=True)
    (header_length,) = _HEADER_LENGTH.unpack_from(payload)
    position = _HEADER_LENGTH.size + header_length
    header = json.loads(payload[_HEADER_LENGTH.size : position])
    arrays = {}
    for name, dtype, shape in header["arrays"]:
        count = int(np.prod(shape, dtype=np.int64))
        arrays[name] = np.frombuffer(payload, dtype=dtype, count=count, offset=position).reshape(shape).copy()
        position += count * np.dtype(dtype).itemsize
    invariant(position == len(payload), f"state blob has {len(payload) - position} bytes too many")
    return header, arrays
