"""The throttle counters as the broker had them (PIP-406), from the tables."""

import numpy as np

from pipeline.query.room import ReadingRoom
from pipeline.rules.array import Array
from pipeline.what_if.world import World
from schemas.events import LIMITER_LEVELS
from schemas.render.ddl import quoted


def counters_of(look: ReadingRoom, world: World) -> Array:
    """Int64 [subscriptions, 3, 2]: levels by messages and bytes, of all dispatchers of the epoch together."""
    names = [
        f"dispatch_throttled_{dimension}_events_by_{level}_limit_since_open" for level in LIMITER_LEVELS for dimension in ("msg", "bytes")
    ]
    sums = ", ".join(f"coalesce(sum({name}), 0) AS {name}" for name in names)
    rows = look.rows(
        f"SELECT topic, subscription, {sums} FROM subscription_totals"
        f" WHERE broker = {quoted(world.record.broker)} AND epoch = {world.record.epoch} GROUP BY topic, subscription"
    )
    found = {(row["topic"], row["subscription"]): [int(row[name]) for name in names] for row in rows}
    zeros = [0] * len(names)
    counts = [found.get((world.names[sub.topic], sub.name), zeros) for sub in world.subs]
    return np.array(counts, dtype=np.int64).reshape(len(counts), len(LIMITER_LEVELS), 2)
