"""How named arrays travel as one blob. Magic and version, then one zstd frame: a JSON header that names arrays, and their bytes.

No pickles: whoever can read numpy arrays can read a blob. A blob of another version is refused.
"""

import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from pipeline.faults import BadWarehouse, invariant
from pipeline.machines.array import Array

MAGIC = b"DLAN"
VERSION = 16
#: Of a lane on hold: the same, and what waits.
HOLD_VERSION = 17
_PREFIX = struct.Struct("<4sIQ")  # magic, version, length of the payload before compression
_HEADER_LENGTH = struct.Struct("<I")


def packed(header: Mapping[str, object], arrays: Mapping[str, Array], version: int = VERSION) -> bytes:
    """The blob of `header` (JSON values; the key "arrays" is taken) and arrays. Equal contents in equal order are equal blobs."""
    described = {**header, "arrays": [[name, array.dtype.str, list(array.shape)] for name, array in arrays.items()]}
    text = json.dumps(described, separators=(",", ":")).encode()
    contents = (np.ascontiguousarray(array).tobytes() for array in arrays.values())
    payload = b"".join([_HEADER_LENGTH.pack(len(text)), text, *contents])
    return _PREFIX.pack(MAGIC, version, len(payload)) + pa.compress(payload, codec="zstd", asbytes=True)


def unpacked(blob: bytes) -> tuple[dict[str, Any], dict[str, Array]]:
    """Header and arrays. Raises BadWarehouse for another format or version."""
    magic, version, length = _PREFIX.unpack_from(blob) if len(blob) >= _PREFIX.size else (b"", 0, 0)
    if magic != MAGIC or version not in (VERSION, HOLD_VERSION):
        raise _another(magic, version)
    payload = pa.decompress(blob[_PREFIX.size :], decompressed_size=length, codec="zstd", asbytes=True)
    (header_length,) = _HEADER_LENGTH.unpack_from(payload)
    position = _HEADER_LENGTH.size + header_length
    header = json.loads(payload[_HEADER_LENGTH.size : position])
    if version == VERSION and "hold" in header:  # 16 was the version of a lane on hold when 15 was that of any other
        raise _another(magic, version)
    arrays = {}
    for name, dtype, shape in header["arrays"]:
        count = int(np.prod(shape, dtype=np.int64))
        arrays[name] = np.frombuffer(payload, dtype=dtype, count=count, offset=position).reshape(shape).copy()
        position += count * np.dtype(dtype).itemsize
    invariant(position == len(payload), f"state blob has {len(payload) - position} bytes too many")
    return header, arrays


def _another(magic: bytes, version: int) -> BadWarehouse:
    return BadWarehouse(
        f"lane state has format {magic!r} version {version}, this is {MAGIC!r} version {VERSION} (on hold {HOLD_VERSION}): "
        "run ./spark-submit.sh rebuild lanes --warehouse WAREHOUSE"
    )
