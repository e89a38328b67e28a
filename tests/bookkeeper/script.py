"""Folds small actions into a broker's events: what a broker would have to know so that its log keeps the contract."""

from dataclasses import dataclass, field
from typing import Any

from bookkeeper.walk import walk

Event = dict[str, Any]

BROKER = "broker-1:8080"
KINDS = ("token_bucket", "classic")
SUB_TYPES = ("Shared", "Exclusive", "Failover", "Key_Shared")
BATCH_MODE = "dispatchThrottlingOnBatchMessageEnabled"
ANSWER_FIELDS = ("broker_msgs", "broker_bytes", "topic_msgs", "topic_bytes", "sub_msgs", "sub_bytes")
#: A minute's border: 28,333,333 minutes after 1970.
MINUTE_US = 28_333_333 * 60_000_000
#: Types that can begin something named by its `ts`: no two of an epoch share one, as `opened_at` is part of a grain.
BEGINNINGS = ("dispatcher_open", "read", "dispatch", "dispatch_rate")


@dataclass
class Topic:
    """A topic as its broker knows it: (ledger, entries, bytes) in order, the last one open if `open`, the first `trimmed` gone."""

    name: str
    ledgers: list[list[int]] = field(default_factory=list)
    open: bool = False
    trimmed: int = 0
    cursors: dict[str, tuple[int, int]] = field(default_factory=dict)

    def place(self, back: int) -> tuple[int, int]:
        """The position `back` entries before the end, in the ledgers not trimmed."""
        kept = self.ledgers[self.trimmed :]
        for ledger, entries, _ in reversed(kept):
            if back < entries:
                return ledger, entries - 1 - back
            back -= entries
        return (kept[0][0] if kept else 0), -1


class Script:
    """`events` grow by `start_epoch`, `act` and `emit`."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.topics = [Topic(f"persistent://t/n/topic-{number}") for number in range(3)]
        self.next_ledger = 1
        self.epoch = 1_700_000_000_000 - 1
        self.last_us = MINUTE_US

    def start_epoch(self, batch_mode: str | None, start_us: int, *, with_ns: bool) -> None:
        """`broker_start`, `start_us` after the minute that follows the last event. Without ns the clock never steps."""
        self.epoch += 1
        self.seq, self.with_ns, self.used = 0, with_ns, set[int]()
        self.ns, self.jitter_us = 5_000_000_000_000 + self.epoch % 7, 0
        first_us = self.last_us - self.last_us % 60_000_000 + (60_000_000 if self.events else 0) + start_us
        self.clock_us = first_us - self.ns // 1000
        for topic in self.topics:
            topic.open = False
        settings = {"other": "1"} if batch_mode is None else {BATCH_MODE: batch_mode}
        self.emit("broker_start", cluster="c", version="4.0.8", settings=settings)

    def act(self, wait_ns: int, jitter_us: int, action: tuple[Any, ...]) -> None:
        """`wait_ns` later, with `ts` off by `jitter_us`: one action, which is one or some events."""
        self.ns += wait_ns
        self.jitter_us = jitter_us if self.with_ns else 0
        getattr(self, f"_{action[0]}")(*action[1:])
        self.jitter_us = 0

    def emit(self, kind: str, **payload: Any) -> None:
        """The next event of the epoch; payload that is None is left out."""
        ts = self.clock_us + self.ns // 1000 + self.jitter_us
        while kind in BEGINNINGS and ts in self.used:
            ts += 1
        self.used.add(ts)
        self.seq += 1
        event = {"v": 1, "broker": BROKER, "epoch": self.epoch, "seq": self.seq, "ts": ts, "type": kind}
        if self.with_ns:
            event["ns"] = self.ns
        self.events.append(event | {name: value for name, value in payload.items() if value is not None})
        self.last_us = max(self.last_us, ts)

    def _where(self, topic: int, sub: int) -> dict[str, str]:
        return {"topic": self.topics[topic].name, "sub": f"sub-{sub}"}

    def _open_ledger(self, topic: Topic, snapshot: bool | None = None) -> None:
        topic.ledgers.append([self.next_ledger, 0, 0])
        topic.open = True
        self.emit("ledger_open", topic=topic.name, ledger=self.next_ledger, snapshot=snapshot)
        self.next_ledger += 1

    # ---- actions ---------------------------------------------------------------------------------------------------------------

    def _heartbeat(self) -> None:
        self.emit("heartbeat", dropped=0)

    def _unknown(self) -> None:
        self.emit("something_new", topic=self.topics[0].name)

    def _clock(self, step_us: int) -> None:
        if self.with_ns:
            self.clock_us += step_us
        self.emit("heartbeat", dropped=0)

    def _setting(self, value: str, other: bool) -> None:
        self.emit("setting", key="otherKey" if other else BATCH_MODE, value=value)

    def _topic_load(self, number: int) -> None:
        topic = self.topics[number]
        self.emit("topic_load", topic=topic.name)
        for ledger, entries, size in topic.ledgers[topic.trimmed :]:
            close_ts = self.events[-1]["ts"] // 1000
            self.emit("ledger_close", topic=topic.name, ledger=ledger, entries=entries, bytes=size, close_ts=close_ts, snapshot=True)
        self._open_ledger(topic, snapshot=True)
        for sub, (ledger, entry) in topic.cursors.items():
            self.emit("cursor_open", topic=topic.name, sub=sub, durable=True, ledger=ledger, entry=entry, snapshot=True)

    def _topic_unload(self, number: int) -> None:
        self.topics[number].open = False
        self.emit("topic_unload", topic=self.topics[number].name)

    def _dispatcher_open(self, topic: int, sub: int, sub_type: str) -> None:
        self.emit("dispatcher_open", **self._where(topic, sub), sub_type=sub_type)

    def _dispatcher_close(self, topic: int, sub: int) -> None:
        self.emit("dispatcher_close", **self._where(topic, sub))

    def _rate(self, level: str, topic: int, sub: int, msg: int, size: int, period_s: int, relative: bool, kind: str) -> None:
        where = self._where(topic, sub)
        named = {"broker": (), "topic": ("topic",), "subscription": ("topic", "sub")}[level]
        rates = {"msg_rate": msg, "byte_rate": size, "period_s": period_s, "relative": relative, "limiter": kind}
        self.emit("dispatch_rate", level=level, **{name: where[name] for name in named}, **rates)

    def _publish(self, number: int, count: int, size: int, msgs: int) -> None:
        topic = self.topics[number]
        if not topic.open:
            self._open_ledger(topic)
        for _ in range(count):
            ledger = topic.ledgers[-1]
            entry, self.ns = ledger[1], self.ns + 1_000
            ledger[1], ledger[2] = ledger[1] + 1, ledger[2] + size
            publish_ts = self.last_us // 1000
            self.emit("publish", topic=topic.name, ledger=ledger[0], entry=entry, msgs=msgs, bytes=size, publish_ts=publish_ts)

    def _ledger_roll(self, number: int) -> None:
        topic = self.topics[number]
        if topic.open:
            ledger, entries, size = topic.ledgers[-1]
            self.emit("ledger_close", topic=topic.name, ledger=ledger, entries=entries, bytes=size, close_ts=self.last_us // 1000)
        self._open_ledger(topic)

    def _ledger_trim(self, number: int) -> None:
        topic = self.topics[number]
        if topic.trimmed < len(topic.ledgers) - 1:
            self.emit("ledger_trim", topic=topic.name, ledger=topic.ledgers[topic.trimmed][0])
            topic.trimmed += 1

    def _cursor_open(self, number: int, sub: int, back: int, deleted: int | None) -> None:
        where, (ledger, entry) = self._where(number, sub), self.topics[number].place(back)
        self.topics[number].cursors[where["sub"]] = (ledger, entry)
        self.emit("cursor_open", **where, durable=True, ledger=ledger, entry=entry, entries=deleted)

    def _cursor_close(self, topic: int, sub: int) -> None:
        self.topics[topic].cursors.pop(f"sub-{sub}", None)
        self.emit("cursor_close", **self._where(topic, sub))

    def _mark_delete(self, number: int, sub: int, back: int, persisted: bool, reset: bool | None) -> None:
        where, (ledger, entry) = self._where(number, sub), self.topics[number].place(back)
        if where["sub"] in self.topics[number].cursors:
            self.topics[number].cursors[where["sub"]] = (ledger, entry)
        self.emit("mark_delete", **where, ledger=ledger, entry=entry, persisted=persisted, reset=reset)

    def _consumer_open(self, topic: int, sub: int) -> None:
        self.emit("consumer_open", **self._where(topic, sub), consumer=self.seq, conn=1)

    def _consumer_close(self, topic: int, sub: int) -> None:
        self.emit("consumer_close", **self._where(topic, sub), consumer=self.seq, conn=1)

    def _read(
        self,
        topic: int,
        sub: int,
        want_msgs: int,
        want_bytes: int,
        answers: tuple[int | None, ...] | None,
        left: str,
        asked_before_ns: int | None,
    ) -> None:
        given = dict(zip(ANSWER_FIELDS, answers or (None,) * 6, strict=True))
        asked_ns = None if asked_before_ns is None or not self.with_ns else self.ns - asked_before_ns
        wants = {"sub_type": SUB_TYPES[0], "want_msgs": want_msgs, "want_bytes": want_bytes}
        self.emit("read", **self._where(topic, sub), **wants, **given, **left_fields(wants, given, left), asked_ns=asked_ns)

    def _dispatch(self, topic: int, sub: int, entries: int, msgs: int, size: int, charged: bool | None) -> None:
        self.emit("dispatch", **self._where(topic, sub), entries=entries, msgs=msgs, bytes=size, charged=charged)


def left_fields(wants: dict[str, Any], given: dict[str, int | None], which: str) -> dict[str, int]:
    """`left_*` of a read: none, right, wrong, or only one of both."""

    def answer(level: str) -> tuple[int, int] | None:
        msgs, size = (given[f"{'sub' if level == 'subscription' else level}_{d}"] for d in ("msgs", "bytes"))
        return None if msgs is None and size is None else (-1 if msgs is None else msgs, -1 if size is None else size)

    msgs, size = walk(wants["want_msgs"], wants["want_bytes"], answer).left
    return {
        "none": {},
        "right": {"left_msgs": msgs, "left_bytes": size},
        "wrong": {"left_msgs": 7, "left_bytes": size},
        "msgs": {"left_msgs": msgs},
        "bytes": {"left_bytes": size},
    }[which]
