"""Reasons to stop reading from one connection (semantics 3.3, ServerCnxThrottleTracker)."""

from dataclasses import dataclass, field
from enum import Enum

BUFFER = "ConnectionOutboundBufferFull"
COOLDOWN = "ConnectionPauseReceivingCooldownRateLimit"
REENTRANT = ("TopicPublishRate", "ResourceGroupPublishRate")
#: Every type, with the end of its columns' names.
TYPES = {
    "ConnectionMaxPendingPublishRequestsExceeded": "connection_max_pending_publish_requests",
    "IOThreadMaxPendingPublishBytesExceeded": "io_thread_max_pending_publish_bytes",
    "TopicPublishRate": "topic_publish_rate",
    "ResourceGroupPublishRate": "resource_group_publish_rate",
    "BrokerPublishRate": "broker_publish_rate",
    BUFFER: "outbound_buffer_full",
    COOLDOWN: "cooldown_rate_limit",
}
#: The two that the rules can decide; the limits behind the others are not in the log.
DECIDED = {BUFFER: "outbound_buffer", COOLDOWN: "cooldown"}


class Result(Enum):
    """What came of a mark or unmark."""

    CONNECTION = "the connection is paused or resumed"
    TYPE = "only the type changed"
    DROPPED = "nothing changed"


@dataclass
class Tracker:
    """`states`: how often each type is set."""

    states: dict[str, int] = field(default_factory=lambda: dict.fromkeys(TYPES, 0))

    @property
    def count(self) -> int:
        """Reading goes on at 0."""
        return sum(self.states.values())

    def change(self, throttle_type: str, on: bool) -> Result:
        """Mark, or unmark."""
        before, state = self.count, self.states[throttle_type]
        if (state == 0) if not on else (state > 0 and throttle_type not in REENTRANT):
            return Result.DROPPED
        self.states[throttle_type] += 1 if on else -1
        return Result.CONNECTION if (before == 0) != (self.count == 0) else Result.TYPE
