"""What the package computes of events, by columns."""

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.packages.broker import SYSTEM_CURSORS, VERSION_BASE
from schemas.packages.computed import ByColumns
from schemas.spark_numbers import integer


def _versions_of(versions: pa.Array) -> pa.Array:
    """The number of each text: of "3.0.4-rc" 3000004; a part that is none, or too large, counts 0."""
    numbers = []
    for text in versions.to_pylist():
        parts = re.match(r"[0-9.]*", text or "")[0].split(".")  # type: ignore[index]  # matches any text
        known = [integer(part, bits=32) or 0 for part in (*parts, "", "")[:3]]
        numbers.append(sum(part * VERSION_BASE ** (2 - k) for k, part in enumerate(known)))
    return pa.array(numbers, pa.int64())


def _owners_of(subscriptions: pa.Array) -> pa.Array:
    owners = np.zeros(len(subscriptions), dtype=np.int64)
    for name, owner in SYSTEM_CURSORS.items():
        owners[pc.fill_null(pc.starts_with(subscriptions, name), False).to_numpy(zero_copy_only=False)] = owner
    return pa.array(owners)


VALUES = {"version_number": ByColumns(("version",), _versions_of), "cursor_owner": ByColumns(("sub",), _owners_of)}
ANSWERS: dict[str, ByColumns] = {}
