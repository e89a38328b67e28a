"""What the state of a lane holds, and the number of that layout: a hash of all that is declared of it, as packets have it.

A state of another layout is refused, with the command that rebuilds: nobody has to raise a number when a field comes or goes.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import fields

import numpy as np

from pipeline.rules.package import Package, Store
from pipeline.rules.packages import PACKAGES
from schemas.lane_columns import LAYOUT as LANE_LAYOUT

#: Raised when the bytes of a blob (blob.py), or its arrays beside those of the packages (codec.py), change in any other way.
BLOB_FORMAT = 19
#: What is kept of an epoch, by name, in the header.
EPOCH_NUMBERS = ("phase", "next_seq", "mature_batch", "last_batch", "lived_ns")
#: What is kept of an epoch's time (windows.py): columns of one array.
TIME_NUMBERS = (
    "started",
    "last_seq",
    "last_ts",
    "last_ns",
    "first_ns",
    "clock_segment",
    "time_us",
    "window",
    "window_segment",
    "applied",
    "missing",
    "carry",
    "day",
    "settled_day",
    "chain",
    "ns_lead",
)


def state_layout(packages: Sequence[Package]) -> int:
    """The layout's number for lanes with these packages of rules: 31 bits of a hash, never 0.

    `Package.version` is in it: what a field means may change without its name or type. Scratch space that is not kept is not.
    """
    kept = [(package.name, package.version, [_declared(store) for store in package.stores if _is_kept(store)]) for package in packages]
    text = json.dumps((BLOB_FORMAT, LANE_LAYOUT, EPOCH_NUMBERS, TIME_NUMBERS, kept))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") % (2**31 - 1) + 1


def _is_kept(store: Store) -> bool:
    """Families and what lies beside them always are."""
    return getattr(store, "kept", True)


def _declared(store: Store) -> list[object]:
    """A store as its declaration has it: its form, names, and the fields of its rows with types and shapes."""
    values = (getattr(store, field.name) for field in fields(store))
    return [type(store).__name__, *(value.descr if isinstance(value, np.dtype) else value for value in values)]


#: Of lanes as they are.
STATE_LAYOUT = state_layout(PACKAGES)
