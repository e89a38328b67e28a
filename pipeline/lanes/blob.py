"""How named arrays travel as one blob. Magic and layout, then one zstd frame: a JSON header that names arrays, and their bytes.

No pickles: whoever can read numpy arrays can read a blob. A blob of another layout (state_layout.py) is refused.
"""

import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from pipeline.faults import BadWarehouse, invariant
from pipeline.lanes.state_layout import STATE_LAYOUT
from pipeline.rules.array import Array

MAGIC = b"DLAN"
_PREFIX = struct.Struct("<4sIQ")  # magic, layout, length of the payload before compression
_HEADER_LENGTH = struct.Struct("<I")


def packed(header: Mapping[str, object], arrays: Mapping[str, Array]) -> bytes:
    """The blob of `header` (JSON values; the key "arrays" is taken) and arrays. Equal contents in equal order are equal blobs."""
    described = {**header, "arrays": [[name, array.dtype.str, list(array.shape)] for name, array in arrays.items()]}
    text = json.dumps(described, separators=(",", ":")).encode()
    contents = (np.ascontiguousarray(array).tobytes() for array in arrays.values())
    payload = b"".join([_HEADER_LENGTH.pack(len(text)), text, *contents])
    return _PREFIX.pack(MAGIC, STATE_LAYOUT, len(payload)) + pa.compress(payload, codec="zstd", asbytes=True)


def unpacked(blob: bytes) -> tuple[dict[str, Any], dict[str, Array]]:
    """Header and arrays. Raises BadWarehouse for another format or layout."""
    magic, layout, length = _PREFIX.unpack_from(blob) if len(blob) >= _PREFIX.size else (b"", 0, 0)
    if (magic, layout) != (MAGIC, STATE_LAYOUT):
        raise BadWarehouse(
            f"lane state has format {magic!r} layout {layout}, this is {MAGIC!r} layout {STATE_LAYOUT}: "
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
