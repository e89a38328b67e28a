"""Token buckets at the instant at which a replay begins: when each was refilled last, and its balance then, by the balances of the log.

A bucket refills only when a read asks it after more than its period. So the instants of its refills follow from each other, and a replay
that begins with another instant keeps the difference.
"""

from typing import NamedTuple

import numpy as np

from pipeline.rules.array import Array
from pipeline.what_if.frequent import NO_TOKENS, Events
from pipeline.what_if.record import Row
from pipeline.what_if.world import World
from schemas.events import LIMITER_KINDS, LIMITER_LEVELS

TOKEN_BUCKET = LIMITER_KINDS.index("token_bucket")
#: Columns of a read's balances, by level and dimension.
TOKENS = {
    level: (f"{name}_msgs_tokens", f"{name}_bytes_tokens") for level, name in zip(LIMITER_LEVELS, ("broker", "topic", "sub"), strict=True)
}


class Refill(NamedTuple):
    """The last refill before the beginning: when, and what of the rate was gone right after it, of messages and of bytes."""

    at_ns: int
    gone_msgs: int
    gone_bytes: int


def refill_of(world: World, level: str, subs: list[int], rate: Row) -> Refill | None:
    """Of the bucket with this `dispatch_rate` that these subscriptions share; null: the log does not show one."""
    if rate["limiter"] != LIMITER_KINDS[TOKEN_BUCKET]:
        return None
    reads, charges = (_together(world, event_type, subs, int(rate["ns"])) for event_type in ("read", "dispatch"))
    limits = (rate["msg_rate"], rate["byte_rate"])
    found = [_last(reads, column, charges, size) for column, size in zip(TOKENS[level], ("msgs", "bytes"), strict=True)]
    shown = [one for one, limit in zip(found, limits, strict=True) if one is not None and limit > 0]
    if not shown:
        return None
    gone = [0 if one is None or limit <= 0 else limit - one[1] for one, limit in zip(found, limits, strict=True)]
    return Refill(max(at_ns for at_ns, _ in shown), *gone)


def _together(world: World, event_type: str, subs: list[int], after_ns: int) -> Events:
    """Events of several subscriptions before the beginning, in order."""
    parts = [world.record.where(event_type, world.subs[s].sub_id) for s in subs]
    whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    order = np.argsort(whole["ns"], kind="stable")
    order = order[(whole["ns"][order] < world.begin_ns) & (whole["ns"][order] > after_ns)]
    return {name: values[order] for name, values in whole.items()}


def _last(reads: Events, column: str, charges: Events, size: str) -> tuple[int, int] | None:
    """(ns, balance) of the last read whose balance is more than the one before, less what was delivered between them."""
    known = reads[column] != NO_TOKENS
    ns, balances = reads["ns"][known], reads[column][known]
    if len(ns) < 2:
        return None
    total: Array = np.concatenate([[0], np.cumsum(charges[size])])
    taken = np.diff(total[np.searchsorted(charges["ns"], ns)])
    rises = np.flatnonzero(np.diff(balances) + taken > 0)
    return (int(ns[rises[-1] + 1]), int(balances[rises[-1] + 1])) if len(rises) else None
