"""Writes contract events for tests: seq, ts and ns follow a clock that the test moves."""

from typing import Any

START_TS_US = 1_795_260_000_000_000  # 2026-11-21T11:20:00Z, the start of a window
START_NS = 7_000_000_000_000
BROKER = "127.0.0.1:8080"
EPOCH = 1_795_259_990_000
TOPIC = "persistent://shop/eu/orders"
SUB = "billing"


class Log:
    """Events of one epoch, in order. `at(seconds)` moves both clocks; `add` appends an event of the moment."""

    def __init__(self, epoch: int = EPOCH, broker: str = BROKER) -> None:
        self.events: list[dict[str, Any]] = []
        self._head = {"v": 1, "broker": broker, "epoch": epoch}
        self._ns = 0

    def at(self, seconds: float, extra_ns: int = 0) -> "Log":
        """Set the time to `seconds` after the start, plus `extra_ns`."""
        self._ns = round(seconds * 1_000_000_000) + extra_ns
        return self

    def add(self, event_type: str, **fields: Any) -> "Log":
        """Append an event."""
        envelope = {"seq": len(self.events) + 1, "ts": START_TS_US + self._ns // 1000, "ns": START_NS + self._ns, "type": event_type}
        self.events.append({**self._head, **envelope, **fields})
        return self

    def start(self, **settings: str) -> "Log":
        """`broker_start`, the broker's own limiter without rates, the topic and its subscription."""
        self.add("broker_start", cluster="c", version="4.0.8", settings=settings)
        self.rate("broker", 0, 0)
        self.add("topic_load", topic=TOPIC)
        self.add("ledger_open", topic=TOPIC, ledger=5, snapshot=True)
        self.add("cursor_open", topic=TOPIC, sub=SUB, durable=True, ledger=5, entry=-1)
        return self.add("dispatcher_open", topic=TOPIC, sub=SUB, sub_type="Shared")

    def rate(self, level: str, msg: int, size: int = -1, period_s: int = 1, limiter: str = "token_bucket", relative: bool = False) -> "Log":
        """`dispatch_rate` of the level's limiter."""
        where = {"broker": {}, "topic": {"topic": TOPIC}, "subscription": {"topic": TOPIC, "sub": SUB}}[level]
        rates = {"msg_rate": msg, "byte_rate": size, "period_s": period_s, "relative": relative, "limiter": limiter}
        return self.add("dispatch_rate", level=level, **where, **rates)

    def read(self, want: int = 100, want_bytes: int = 5_242_880, **answers: tuple[int, int]) -> "Log":
        """`read` with the given answers (`broker=(m, b)`, `topic=…`, `sub=…`)."""
        fields: dict[str, int] = {}
        for level, (msgs, size) in answers.items():
            fields |= {f"{level}_msgs": msgs, f"{level}_bytes": size}
        return self.add("read", topic=TOPIC, sub=SUB, sub_type="Shared", want_msgs=want, want_bytes=want_bytes, **fields)

    def dispatch(self, msgs: int, size: int = 0, entries: int | None = None, **fields: Any) -> "Log":
        """`dispatch` of `msgs` messages, one an entry unless `entries` says otherwise."""
        return self.add("dispatch", topic=TOPIC, sub=SUB, entries=msgs if entries is None else entries, msgs=msgs, bytes=size, **fields)

    def publish(self, entries: int, size: int = 100, ledger: int = 5) -> "Log":
        """`entries` publishes of one message each."""
        for entry in range(entries):
            self.add("publish", topic=TOPIC, ledger=ledger, entry=entry, msgs=1, bytes=size, publish_ts=1)
        return self
