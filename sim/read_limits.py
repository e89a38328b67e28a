"""The limits of a dispatcher's reads: the limiters of the broker, of the topic and of the subscription, asked in this order."""

from sim.limiters import Limiter
from sim.managed_cursor import ManagedCursor
from sim.truth import THROTTLED, Cause

MAX_READ_ENTRIES = 100
MAX_READ_BYTES = 5_242_880
LEVELS = ("broker", "topic", "subscription")
ANSWERS = {"broker": "broker", "topic": "topic", "subscription": "sub"}
COUNTERS = [f"dispatch_throttled_{dimension}_events_by_{level}_limit" for dimension in ("msg", "bytes") for level in LEVELS]

#: (Entries, bytes) that one read may bring.
Granted = tuple[int, int]


class ReadLimits:
    """Of one dispatcher; `own` is the limiter of its subscription. `counters` are those that a broker would show."""

    def __init__(self, cursor: ManagedCursor, topic: Limiter) -> None:
        self._cursor, self._process = cursor, cursor.process
        self.own = Limiter(topic.kind)
        self.counters = dict.fromkeys(COUNTERS, 0)
        self._limiters = dict(zip(LEVELS, (self._process.limiter, topic, self.own), strict=True))

    def ask(self, permits: int, want: int) -> Granted | Cause:
        """What the limiters leave of `want` entries, or why they leave nothing. Writes `read`."""
        log = self._process.log
        now_ns = log.stamp()
        msgs, size = want, MAX_READ_BYTES
        said, blocked = "", None
        for level, limiter in self._limiters.items():
            if not limiter.applied:
                continue
            may_msgs = -1 if limiter.msgs is None else limiter.msgs.ask(now_ns)
            may_bytes = -1 if limiter.bytes is None else limiter.bytes.ask(now_ns)
            said += self._answer(ANSWERS[level], limiter, may_msgs, may_bytes)
            if 0 <= may_msgs < msgs:
                msgs = may_msgs
                self.counters[f"dispatch_throttled_msg_events_by_{level}_limit"] += 1
            if 0 <= may_bytes < size:
                size = may_bytes
                self.counters[f"dispatch_throttled_bytes_events_by_{level}_limit"] += 1
            if msgs == 0 or size == 0:
                blocked = THROTTLED[level, "msg" if msgs == 0 else "bytes"]
                break
        left = '-1,"left_bytes":-1' if blocked else f'{msgs},"left_bytes":{size}'
        log.write(
            now_ns,
            f'"read",{self._cursor.json},"sub_type":"{self._cursor.declared.type}","permits":{permits},'
            f'"want_msgs":{want},"want_bytes":{MAX_READ_BYTES}{said},"left_msgs":{left}',
        )
        return blocked or (max(msgs, 1), max(size, 1))

    def _answer(self, name: str, limiter: Limiter, msgs: int, size: int) -> str:
        said = f',"{name}_msgs":{msgs},"{name}_bytes":{size}'
        if self._process.tells_causes:
            if limiter.msgs is not None:
                said += f',"{name}_msgs_tokens":{limiter.msgs.balance()}'
            if limiter.bytes is not None:
                said += f',"{name}_bytes_tokens":{limiter.bytes.balance()}'
        return said

    def charge(self, msgs: int, size_bytes: int, now_ns: int) -> None:
        """A delivery is charged to all of them."""
        for limiter in self._limiters.values():
            limiter.consume(msgs, size_bytes, now_ns)
