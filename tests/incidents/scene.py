"""Writes small logs of incidents by the contract (docs/reference/event-log.md): a broker, its topics and subscriptions do as they are told.

Times are seconds after START. Events may be added in any order of time; those of one instant keep the order in which they were added.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

START = "2026-11-24T10:00:00+00:00"
START_US = round(datetime.fromisoformat(START).timestamp() * 1_000_000)
HOST_NS = 9_000_000_000_000
#: A broker is started with these, where an incident says nothing else.
SETTINGS = {"backlogQuotaCheckIntervalInSeconds": "60", "preciseTimeBasedBacklogQuotaCheck": "false"}
MAX_READ_BYTES = 5_242_880
#: What the broker does in a quota check, given its instant.
Act = Callable[[float], Any]


class Scene:
    """The log of one epoch of one broker."""

    def __init__(self, name: str, *, version: str = "4.0.8", cluster: str = "west", **settings: str) -> None:
        self.broker, self.epoch = f"{name.replace('_', '-')}.example:8080", START_US // 1000 - 5_000
        self._events: list[tuple[int, int, str, dict[str, Any]]] = []
        self.add(0, "broker_start", cluster=cluster, version=version, settings={**SETTINGS, **settings}, log_version="1.1")
        self.add(0, "dispatch_rate", level="broker", **rate(0, 0))

    def add(self, at: float, event: str, **fields: Any) -> "Scene":
        """An event; fields that are None are left out."""
        kept = {name: value for name, value in fields.items() if value is not None}
        self._events.append((round(at * 1e9), len(self._events), event, kept))
        return self

    def conn(self, at: float, *numbers: int) -> "Scene":
        """Connections open."""
        for number in numbers:
            self.add(at, "conn_open", conn=number, remote=f"10.0.0.{number % 250 + 1}:40000")
        return self

    def rounds(self, topics: Sequence[str], until: float, acts: Mapping[tuple[int, str], Act] | None = None) -> None:
        """A round of quota checks a minute. `acts`: (round's second, topic) → what the broker does in that check."""
        for second in range(60, int(until) + 1, 60):
            self.add(second, "quota_round", phase="start")
            for place, topic in enumerate(topics):
                moment = second + 0.001 * (place + 1)
                act = (acts or {}).get((second, topic))
                if act is not None:
                    act(moment)
                self.add(moment + 0.0009, "quota_check", topic=topic, duration_us=1000 * (place + 1) + 900)
            done = 0.001 * (len(topics) + 2)
            self.add(second + done, "quota_round", phase="end", duration_us=round(done * 1e6))

    def events(self, until: float) -> Iterator[dict[str, Any]]:
        """All events in order, with a heartbeat a second up to `until`."""
        beats = [(round((second + 0.5) * 1e9), 10**9 + second, "heartbeat", {"dropped": 0}) for second in range(int(until))]
        head = {"v": 1, "broker": self.broker, "epoch": self.epoch}
        last = -1
        for seq, (ns, _, event, fields) in enumerate(sorted([*self._events, *beats], key=lambda one: one[:2]), 1):
            last = max(ns, last + 1000)  # no two events at one instant
            yield {**head, "seq": seq, "ts": START_US + last // 1000, "ns": HOST_NS + last, "type": event, **fields}

    def write(self, folder: Path, until: float) -> None:
        """The log as a file of its own."""
        folder.mkdir(parents=True, exist_ok=True)
        text = "".join(json.dumps(event) + "\n" for event in self.events(until))
        (folder / f"{self.broker.replace(':', '-')}.jsonl").write_text(text, encoding="utf-8")

    def topic(self, name: str, ledger: int = 11, **quota: Any) -> "Topic":
        """A topic that is loaded at the start; `quota` as of `Topic.load`."""
        return Topic(self, name, ledger).load(**quota)


def rate(msgs: int, size: int, source: str | None = None) -> dict[str, Any]:
    """The fields of `dispatch_rate` that a limit has, per second."""
    fields = {"msg_rate": msgs, "byte_rate": size, "period_s": 1, "relative": False, "limiter": "token_bucket"}
    return fields | ({"source": source} if source else {})


class Topic:
    """A topic of a scene: publishes are numbered."""

    def __init__(self, scene: Scene, name: str, ledger: int) -> None:
        self.scene, self.name, self.ledger, self.entry = scene, name, ledger, -1

    def load(self, size: int = -1, size_policy: str = "producer_request_hold", age: int = -1) -> "Topic":
        """It is loaded, with a quota of `size` bytes and of `age` seconds that its namespace sets (below 0: none)."""
        add = self.scene.add
        add(0.1, "topic_load", topic=self.name)
        add(0.1, "ledger_open", topic=self.name, ledger=self.ledger, snapshot=True)
        for kind, limit, policy in (("destination_storage", size, size_policy), ("message_age", age, "producer_request_hold")):
            quota = {"quota_type": kind, "limit": limit, "policy": policy}
            if limit >= 0:
                namespace = "/".join(self.name.split("://")[-1].split("/")[:2])
                add(0.1, "policy_set", source="namespace", policy_kind="backlog_quota", namespace=namespace, **quota)
            add(0.1, "backlog_quota", topic=self.name, source="namespace" if limit >= 0 else "broker_config", **quota)
        return self

    def producer(self, at: float, conn: int) -> "Topic":
        """A producer connects."""
        self.scene.add(at, "producer_open", topic=self.name, producer=1, conn=conn)
        return self

    def publish(self, at: float, size: int = 1000, msgs: int = 1) -> int:
        """An entry; its number."""
        self.entry += 1
        sent_ms = START_US // 1000 + round(at * 1000) - 3
        fields = {"ledger": self.ledger, "entry": self.entry, "msgs": msgs, "bytes": size, "publish_ts": sent_ms}
        self.scene.add(at, "publish", topic=self.name, **fields)
        return self.entry

    def exceeded(self, at: float, limit: int, policy: str) -> None:
        """The check finds the size quota exceeded."""
        self.scene.add(at, "quota_exceeded", topic=self.name, quota_type="destination_storage", policy=policy, limit=limit)

    def sub(self, name: str, sub_type: str | None = "Shared", kind: str = "subscription") -> "Sub":
        """A durable cursor at the topic's begin, with a dispatcher but for `sub_type` None."""
        sub = Sub(self, name, sub_type or "Shared")
        sub.add(0.2, "cursor_open", durable=True, ledger=self.ledger, entry=-1, cursor_kind=kind)
        return sub if sub_type is None else sub.add(0.3, "dispatcher_open", sub_type=sub_type)


class Sub:
    """A subscription of a topic. It does what it is told, no more."""

    def __init__(self, topic: Topic, name: str, sub_type: str) -> None:
        self.topic, self.name, self.scene, self.type = topic, name, topic.scene, sub_type

    def add(self, at: float, event: str, **fields: Any) -> "Sub":
        """An event of this subscription."""
        self.scene.add(at, event, topic=self.topic.name, sub=self.name, **fields)
        return self

    def consumer(self, at: float = 0.5, number: int = 0, conn: int = 1, permits: int = 1000) -> "Sub":
        """A consumer connects, and asks for messages."""
        self.add(at, "consumer_open", consumer=number, conn=conn)
        return self.flow(at, permits, number, conn) if permits else self

    def gone(self, at: float, number: int = 0, conn: int = 1) -> "Sub":
        """A consumer leaves."""
        return self.add(at, "consumer_close", consumer=number, conn=conn)

    def flow(self, at: float, permits: int, number: int = 0, conn: int = 1) -> "Sub":
        """A consumer asks for more."""
        return self.add(at, "flow", permits=permits, consumer=number, conn=conn)

    def read(self, at: float, permits: int = 1000, want: int | None = None) -> "Sub":
        """A read that no limiter holds."""
        want = min(100, max(permits, 1)) if want is None else want
        asked = {"want_msgs": want, "want_bytes": MAX_READ_BYTES, "left_msgs": want, "left_bytes": MAX_READ_BYTES}
        return self.add(at, "read", sub_type=self.type, permits=permits, broker_msgs=-1, broker_bytes=-1, **asked)

    def done(self, at: float, entries: int, size: int, **more: Any) -> "Sub":
        """Storage or the cache gave entries, after 0.9 ms."""
        return self.add(at, "read_done", entries=entries, bytes=size, duration_us=900, **more)

    def deliver(self, at: float, entries: int, size: int, msgs: int | None = None) -> "Sub":
        """Entries go to consumers."""
        return self.add(at, "dispatch", entries=entries, msgs=entries if msgs is None else msgs, bytes=size)

    def ack(self, at: float, entry: int, number: int = 0) -> "Sub":
        """An entry is acknowledged."""
        return self.add(at, "ack", consumer=number, ack_type="individual", ledger=self.topic.ledger, entry=entry)

    def mark(self, at: float, entry: int, *, persisted: bool = True) -> "Sub":
        """The mark-delete position moves in memory, and 2 ms later in the metadata."""
        moved = {"ledger": self.topic.ledger, "entry": entry}
        self.add(at, "mark_delete", persisted=False, **moved)
        return self.add(at + 0.002, "mark_delete", persisted=True, **moved) if persisted else self

    def healthy(self, at: float, entry: int, size: int, permits: int = 1000, msgs: int = 1) -> "Sub":
        """An entry that was just published is delivered, the next read waits for more, and it is acknowledged."""
        self.done(at + 0.0005, 1, size).deliver(at + 0.0006, 1, size, msgs).read(at + 0.0008, permits - msgs)
        return self.ack(at + 0.01, entry).mark(at + 0.011, entry)
