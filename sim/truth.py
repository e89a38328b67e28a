"""Why each subscription stood still, from those who decided it: one line per interval with backlog and one cause."""

from typing import NamedTuple

from sim.files import LineFiles
from sim.log import HOST_NS


class Cause(NamedTuple):
    """A cause; `level` and `dimension` of a limiter."""

    name: str
    level: str | None = None
    dimension: str | None = None


NO_CONSUMER, CHANNEL, UNACKED_LIMIT, NO_PERMITS = Cause("no_consumer"), Cause("channel"), Cause("unacked_limit"), Cause("no_permits")
IN_FLIGHT, DELAYED, READING, CATCHING_UP, STUCK = (
    Cause("in_flight"), Cause("delayed"), Cause("reading"), Cause("catching_up"), Cause("stuck"),
)  # fmt: skip
NO_FLOW, REDELIVERY, TRANSACTION, KEYS_BLOCKED = Cause("no_flow"), Cause("redelivery"), Cause("transaction"), Cause("keys_blocked")
THROTTLED = {
    (level, dimension): Cause("throttled", level, dimension)
    for level in ("broker", "topic", "subscription")
    for dimension in ("msg", "bytes")
}


def _json(text: str | None) -> str:
    return "null" if text is None else f'"{text}"'


class Account:
    """The intervals of one subscription in one epoch. Instants are ns of the scenario; lines have the `ns` of events."""

    __slots__ = ("_files", "_head", "_since_ns", "cause")

    def __init__(self, files: LineFiles, broker: str, epoch_ms: int, topic: str, subscription: str) -> None:
        self.cause: Cause | None = None
        self._files, self._since_ns = files, 0
        self._head = f'{{"broker":"{broker}","epoch":{epoch_ms},"topic":"{topic}","subscription":"{subscription}","from_ns":'

    def settle(self, now_ns: int, cause: Cause | None) -> None:
        """From now on `cause` holds the subscription back; None: it has no backlog."""
        before = self.cause
        if cause is before:
            return
        if before is not None and now_ns > self._since_ns:
            self._files.write(
                f'{self._head}{HOST_NS + self._since_ns},"to_ns":{HOST_NS + now_ns},"cause":"{before.name}",'
                f'"level":{_json(before.level)},"dimension":{_json(before.dimension)}}}'
            )
        self.cause, self._since_ns = cause, now_ns
