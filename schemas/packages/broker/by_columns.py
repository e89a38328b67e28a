"""What the package computes of events, by columns."""

import re
from functools import reduce
from operator import or_

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.events.points import BITS_OF_POINTS
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


def _missing_events(points_of_events: pa.Array) -> pa.Array:
    return pa.array([None if points is None else _bits(points) for points in points_of_events.to_pylist()], pa.int64())


def _bits(points: list[str | None]) -> int:
    return reduce(or_, (BITS_OF_POINTS.get(point or "", 0) for point in points), 0)


VALUES = {
    "version_number": ByColumns(("version",), _versions_of),
    "cursor_owner": ByColumns(("sub",), _owners_of),
    "missing_events": ByColumns(("missing_points",), _missing_events),
}
ANSWERS: dict[str, ByColumns] = {}
