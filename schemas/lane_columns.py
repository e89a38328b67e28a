"""How an event travels to its lane: a few int64 columns without nulls, payload fields in shared slots.

Every column across the shuffle and into Python costs, a nullable long would arrive as float64 and lose ids above 2^53,
and no event type of the lanes uses more than eleven payload fields. So slot k means something else for each type; an absent value
is 0 and its bit in `mask` is not set (bit k for slot k). Flags and enumerations travel as numbers. A yes or no that is asked of an event
whose slots are all taken is a bit of `mask` above theirs. The packages of rules declare which fields they read (schemas/packages).
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import TypeVar

from schemas.events import (
    ACK_TYPES,
    CODES,
    LIMITER_KINDS,
    LIMITER_LEVELS,
    POLICY_KINDS,
    QUOTA_POLICIES,
    QUOTA_TYPES,
    ROUND_PHASES,
    SOURCES,
    SUB_TYPES,
    THROTTLE_TYPES,
    TRANSACTION_ACTIONS,
    UNACKED_CAPS,
)
from schemas.packages import PACKAGES
from schemas.packages.declaration import Declaration

Value = TypeVar("Value")

SLOTS = 11
#: Group key of the lanes, which travels beside the columns: the broker, as the hash of its name.
LANE_KEY = "lane"
#: Columns in which events travel beside it: many events as a packet, or one as its LANE_COLUMNS.
PACKET, ROW = "packet", "row"
#: Columns of a lane row, in order.
#: `arrival` orders events of one ingest batch (schemas/arrival.py).
LANE_COLUMNS = (
    "epoch",
    "seq",
    "ts",
    "ns",
    "type_code",
    "ingest_batch",
    "arrival",
    "topic_id",
    "sub_id",
    "mask",
    *(f"s{k}" for k in range(SLOTS)),
)
#: Position of each column in an array of lane rows.
COLUMN = {name: position for position, name in enumerate(LANE_COLUMNS)}


def united(declared: Iterable[Mapping[str, Value]]) -> dict[str, Value]:
    """All of them as one. Raises ValueError where two declare something different under one name."""
    whole: dict[str, Value] = {}
    for part in declared:
        for name, value in part.items():
            if whole.setdefault(name, value) != value:
                raise ValueError(f"two packages declare {name}: {whole[name]} and {value}")
    return whole


def _slots(packages: tuple[Declaration, ...]) -> dict[str, tuple[str, ...]]:
    """Event type → payload fields in slot order: those of the first package, then what others read beside them."""
    fields: dict[str, tuple[str, ...]] = {}
    for package in packages:
        settings = {"broker_start": tuple(package.start_settings)} if package.start_settings else {}
        for declared in (package.slots, settings):
            for event, names in declared.items():
                before = fields.get(event, ())
                fields[event] = (*before, *(name for name in names if name not in before))
    too_many = {event: len(names) for event, names in fields.items() if len(names) > SLOTS}
    if too_many:
        raise ValueError(f"an event has {SLOTS} slots, declared are {too_many}")
    return fields


#: Event type → payload fields in slot order. A type that is not listed carries no payload: it keeps `seq` whole and moves time.
SLOT_FIELDS: dict[str, tuple[str, ...]] = _slots(PACKAGES)
#: Of them, those that are no column of bronze → the columns that they are computed of.
COMPUTED_FIELDS: dict[str, tuple[str, ...]] = united(package.computed for package in PACKAGES)
#: Event type → {question → the columns that answer it}: bit SLOTS + k of `mask` answers the k-th one with yes.
QUESTIONS: dict[str, Mapping[str, tuple[str, ...]]] = united(package.questions for package in PACKAGES)
#: Pulsar configuration keys that a package acts on, and how their text becomes a number: true or false as 1 or 0, or an integer.
SETTINGS: dict[str, str] = united(package.settings for package in PACKAGES)
#: Slots of `broker_start` that hold two settings each, which no `setting` event changes.
START_SETTINGS: dict[str, Mapping[str, str]] = united(package.start_settings for package in PACKAGES)
#: Two settings in one slot: (first + 2) · 2^31 + (second + 2), each cut to −1 … 2^31 − 3; 0 stands for an absent one.
PACKED_BITS, PACKED_OFFSET, PACKED_LEAST, PACKED_MOST = 31, 2, -1, 2**31 - 3
#: Text with few values travels as its position in the declared tuple.
ENUM_SLOTS = {
    "level": LIMITER_LEVELS,
    "limiter": LIMITER_KINDS,
    "sub_type": SUB_TYPES,
    "quota_type": QUOTA_TYPES,
    "policy": QUOTA_POLICIES,
    "ack_type": ACK_TYPES,
    "phase": ROUND_PHASES,
    "throttle_type": THROTTLE_TYPES,
    "cap": UNACKED_CAPS,
    "transaction_action": TRANSACTION_ACTIONS,
    "source": SOURCES,
    "policy_kind": POLICY_KINDS,
}


#: Raised when the bytes of a packet (pipeline/lanes/packets/packet.py), or what is computed of the same columns, change in any other way.
PACKET_FORMAT = 3


def _layout() -> int:
    """A number for the bytes of a packet and all that this module declares about lane rows: 31 bits of a hash, never 0."""
    declared = [
        PACKET_FORMAT,
        *(LANE_COLUMNS, SLOT_FIELDS, COMPUTED_FIELDS, QUESTIONS, SETTINGS, START_SETTINGS, ENUM_SLOTS),
        *(PACKED_BITS, PACKED_OFFSET, PACKED_LEAST, PACKED_MOST),
        {name: CODES[name] for name in SLOT_FIELDS},
    ]
    text = json.dumps(declared, default=dict)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") % (2**31 - 1) + 1


#: Layout of lane rows. Packets are kept with the events, so each has the layout by which it was made.
LAYOUT = _layout()
