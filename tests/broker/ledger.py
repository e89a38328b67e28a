"""What the cause ledger charged to a subscription, compared with the truth that a scenario knows (`causes.json`)."""

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

Row = dict[str, Any]
#: (cause, level, dimension, reason), without what is null.
Charge = tuple[str, ...]
_LEVELS = ("broker", "topic", "subscription")
#: Of causes.json → what the ledger may charge for it: docs/design/causes.md has its causes.
CHARGES: dict[str, frozenset[Charge]] = {
    # A subscription that follows its topic has a message on the way now and then.
    "nothing": frozenset({("catching_up",), ("in_flight",)}),
    **{f"{level}_msg_limit": frozenset({("throttled", level, "msg")}) for level in _LEVELS},
    **{f"{level}_byte_limit": frozenset({("throttled", level, "bytes")}) for level in _LEVELS},
    # Messages wait in the client's queue or, where that is full, in the broker.
    "slow_consumer": frozenset({("in_flight",), ("no_permits",)}),
    # It keeps nothing from being trimmed. Once what waits in its queue is trimmed the broker counts nothing that it holds.
    "paused_reader": frozenset({("in_flight",), ("no_permits",), ("no_flow",)}),
    "no_consumer": frozenset({("no_consumer",)}),
    # How much a connection takes is a matter of the machine, and how much waits: a queue may be full before.
    "stopped_consumer": frozenset({("in_flight",), ("channel",), ("no_permits",)}),
    "full_channel": frozenset({("channel",)}),
    "unacked_cap": frozenset({("unacked_limit",)}),
    "delayed_delivery": frozenset({("delayed",)}),
    # Those that come again are a redelivery, once most of what is delivered was delivered before.
    "not_acknowledged": frozenset({("in_flight",), ("redelivery",)}),
    "negative_acks": frozenset({("in_flight",), ("redelivery",)}),
    "keys_blocked": frozenset({("keys_blocked",)}),
    "transaction": frozenset({("transaction",)}),
    # The ledger has subscriptions only: the cursor of a replicator has no charges.
    "not_connected": frozenset(),
    # A topic that is not loaded has no backlog that anybody could see.
    "not_loaded": frozenset(),
}


class Stretch(NamedTuple):
    """One line of causes.json beside what the ledger charged in the windows that lie in it, by entries × time (entry-µs)."""

    cause: str
    topic: str
    subscription: str
    from_us: int
    to_us: int
    charged: Counter[Charge]

    @property
    def main(self) -> Charge | None:
        """The charge with the most entries × time; None: nothing was charged."""
        return max(self.charged, key=lambda charge: self.charged[charge]) if self.charged else None

    @property
    def agrees(self) -> bool:
        """Whether the main charge is one of those of the cause. Nothing that holds back, and what the ledger lacks, may have none."""
        allowed = CHARGES[self.cause]
        return self.main in allowed if self.main else self.cause in ("nothing", "not_connected", "not_loaded")


def stretches(causes: Iterable[Row], rows: Iterable[Row], window_us: int) -> list[Stretch]:
    """Each cause of a scenario beside the charges of `subscription_causes`, of windows that lie wholly in its time."""
    by_subscription: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        by_subscription.setdefault((row["topic"], row["subscription"]), []).append(row)
    return [_beside(cause, by_subscription.get((cause["topic"], cause["subscription"]), []), window_us) for cause in causes]


def _beside(cause: Row, rows: list[Row], window_us: int) -> Stretch:
    charged = Counter[Charge]()
    for row in rows:
        if cause["from_us"] <= row["window_start"] and row["window_start"] + window_us <= cause["to_us"]:
            charge = tuple(row[name] for name in ("cause", "level", "dimension", "unknown_reason") if row[name] is not None)
            charged[charge] += row["entry_us"]
    return Stretch(cause["cause"], cause["topic"], cause["subscription"], cause["from_us"], cause["to_us"], charged)
