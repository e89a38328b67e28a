"""By Arrow what packages declare in SQL: values of an event that are no column of bronze, and questions about it.

tests/lanes/test_projections.py holds each against its SQL.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.lanes.spark_numbers import integer
from schemas.packages.broker import SYSTEM_CURSORS, VERSION_BASE
from schemas.packages.channel import KEEP_ALIVE


@dataclass(frozen=True)
class Computed:
    """`of` gets the arrays of `columns` of bronze and gives a value, or null, for each event."""

    columns: tuple[str, ...]
    of: Callable[..., pa.Array]


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


#: Of COMPUTED_FIELDS.
VALUES = {
    "want_left_msgs": Computed(
        ("want_msgs", "left_msgs"), lambda want, left: pc.add(pc.multiply(want, 2**32), pc.fill_null(pc.add(left, 2), 0))
    ),
    "outside_of_round": Computed(("cause",), lambda cause: cause.is_valid().cast(pa.int64())),
    "keeps_alive": Computed(("command",), lambda command: pc.is_in(command, pa.array(KEEP_ALIVE)).cast(pa.int64())),
    "version_number": Computed(("version",), _versions_of),
    "cursor_owner": Computed(("sub",), _owners_of),
}
#: Of QUESTIONS, by their names.
ANSWERS = {"one_permit": Computed(("permits",), lambda permits: pc.fill_null(pc.less_equal(permits, 1), False))}
