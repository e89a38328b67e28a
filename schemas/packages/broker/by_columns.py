"""What the package computes of events, by columns."""

import re
from functools import partial, reduce
from operator import or_

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.events import CURSOR_KINDS, SUB_TYPES
from schemas.events.points import BITS_OF_POINTS
from schemas.packages.broker import KINDS_BY_NAME, KINDS_BY_PREFIX, VERSION_BASE
from schemas.spark_numbers import integer


def _versions_of(versions: pa.Array) -> pa.Array:
    """The number of each text: of "3.0.4-rc" 3000004; a part that is none, or too large, counts 0."""
    numbers = []
    for text in versions.to_pylist():
        parts = re.match(r"[0-9.]*", text or "")[0].split(".")  # type: ignore[index]  # matches any text
        known = [integer(part, bits=32) or 0 for part in (*parts, "", "")[:3]]
        numbers.append(sum(part * VERSION_BASE ** (2 - k) for k, part in enumerate(known)))
    return pa.array(numbers, pa.int64())


def _cursor_kinds_of(told: pa.Array, subscriptions: pa.Array, durable: pa.Array) -> pa.Array:
    named = [(pc.equal(subscriptions, name), kind) for name, kind in KINDS_BY_NAME.items()]
    named += [(pc.starts_with(subscriptions, prefix), kind) for prefix, kind in KINDS_BY_PREFIX.items()]
    kinds = np.full(len(subscriptions), CURSOR_KINDS.index("subscription"), dtype=np.int64)
    # What is put later counts: the event's own kind before the name, the name before the cursor's durability.
    ascending = [(pc.invert(durable), "reader"), *reversed(named), *((pc.equal(told, kind), kind) for kind in CURSOR_KINDS)]
    for is_so, kind in ascending:
        kinds[pc.fill_null(is_so, False).to_numpy(zero_copy_only=False)] = CURSOR_KINDS.index(kind)
    return pa.array(kinds)


def _missing_events(points_of_events: pa.Array) -> pa.Array:
    return pa.array([None if points is None else _bits(points) for points in points_of_events.to_pylist()], pa.int64())


def _bits(points: list[str | None]) -> int:
    return reduce(or_, (BITS_OF_POINTS.get(point or "", 0) for point in points), 0)


def _yes(answers: pa.Array) -> pa.Array:
    return pc.fill_null(answers, False)


def _is(text: str, told: pa.Array) -> pa.Array:
    return _yes(pc.equal(told, text))


VALUES = {"version_number": _versions_of, "cursor_kind_number": _cursor_kinds_of, "missing_events": _missing_events}
ANSWERS = {
    "is_exact": lambda as_of, seq: _yes(pc.greater_equal(as_of, pc.subtract(seq, 1))),
    "is_moving": _yes,
    "is_durable": lambda durable: pc.fill_null(durable, True),
    "is_blocked": _yes,
    "is_read_out": lambda read, replay: pc.or_(_yes(read), _yes(replay)),
    "is_read_waiting": _yes,
    **{f"is_{sub_type}": partial(_is, sub_type) for sub_type in SUB_TYPES},
}
