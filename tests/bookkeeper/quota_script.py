"""Writes a broker's events of topics, ledgers, cursors and quota checks: one call is one or a few events of the contract."""

from typing import Any

Event = dict[str, Any]
Place = tuple[int, int]

TOPIC = "persistent://t/n/a"
#: All times are seconds after this (s since the Unix epoch), so that a case's "110.001" is its own.
BASE_S = 1_700_000_000
ROUND_NS = 1_000_000
SIZE, AGE = "destination_storage", "message_age"
HOLD, EXCEPTION, EVICTION = "producer_request_hold", "producer_exception", "consumer_backlog_eviction"


def ms(second: float) -> int:
    """A case's second as ms since the Unix epoch."""
    return BASE_S * 1000 + round(second * 1000)


class Log:
    """`events` grow with every call; `at` sets the clock (both of them) to a second."""

    def __init__(self, version: str = "4.0.8", *, precise: bool = True, epoch: int = 1) -> None:
        self.events: list[Event] = []
        self.topic = TOPIC
        self.start_epoch(version, precise=precise, epoch=epoch)

    def start_epoch(self, version: str = "4.0.8", *, precise: bool = True, epoch: int = 1, at: float = 0) -> None:
        self.epoch, self.seq, self.us = epoch, 0, BASE_S * 1_000_000 + round(at * 1_000_000)
        settings = {"preciseTimeBasedBacklogQuotaCheck": str(precise).lower()}
        self.add("broker_start", cluster="c", version=version, settings=settings)

    def at(self, second: float) -> "Log":
        self.us = BASE_S * 1_000_000 + round(second * 1_000_000)
        return self

    def add(self, kind: str, **payload: Any) -> "Log":
        """One event; payload that is None is left out."""
        self.seq += 1
        event = {"v": 1, "broker": "b:1", "epoch": self.epoch, "seq": self.seq, "ts": self.us, "ns": self.us * 1000, "type": kind}
        self.events.append(event | {name: value for name, value in payload.items() if value is not None})
        return self

    def of_topic(self, kind: str, **payload: Any) -> "Log":
        return self.add(kind, topic=self.topic, **payload)

    # ---- topics and ledgers ----------------------------------------------------------------------------------------------------

    def load(self, *, size: int = -1, size_policy: str = HOLD, age: int = -1, age_policy: str = HOLD) -> "Log":
        """A topic without ledgers; its quotas (bytes, seconds)."""
        return self.of_topic("topic_load").quota(SIZE, size, size_policy).quota(AGE, age, age_policy)

    def unload(self) -> "Log":
        return self.of_topic("topic_unload")

    def quota(self, kind: str, limit: int, policy: str = EVICTION) -> "Log":
        return self.of_topic("backlog_quota", quota_type=kind, limit=limit, policy=policy)

    def open(self, ledger: int, *, snapshot: bool | None = None) -> "Log":
        return self.of_topic("ledger_open", ledger=ledger, snapshot=snapshot)

    def close(self, ledger: int, entries: int, size: int, *, snapshot: bool | None = None, close_s: float | None = None) -> "Log":
        """Closed now, or at `close_s`."""
        close_ts = self.us // 1000 if close_s is None else ms(close_s)
        return self.of_topic("ledger_close", ledger=ledger, entries=entries, bytes=size, close_ts=close_ts, snapshot=snapshot)

    def trim(self, ledger: int) -> "Log":
        return self.of_topic("ledger_trim", ledger=ledger)

    def publish(self, ledger: int, entry: int, size: int = 1024, *, second: float | None = None, msgs: int = 1) -> "Log":
        """Published now, or, by its producer's clock, at `second`."""
        publish_ts = self.us // 1000 if second is None else ms(second)
        return self.of_topic("publish", ledger=ledger, entry=entry, msgs=msgs, bytes=size, publish_ts=publish_ts)

    def fill(self, ledger: int, sizes: list[int], *, close: bool = False) -> "Log":
        """A ledger with entries of these sizes; it stays open unless `close`."""
        self.open(ledger)
        for entry, size in enumerate(sizes):
            self.publish(ledger, entry, size)
        return self.close(ledger, len(sizes), sum(sizes)) if close else self

    # ---- cursors and producers -------------------------------------------------------------------------------------------------

    def sub(self, name: str, place: Place, *, durable: bool = True, snapshot: bool | None = None, entries: int | None = None) -> "Log":
        return self.of_topic("cursor_open", sub=name, durable=durable, ledger=place[0], entry=place[1], entries=entries, snapshot=snapshot)

    def unsubscribe(self, name: str) -> "Log":
        return self.of_topic("cursor_close", sub=name)

    def mark(self, name: str, place: Place, *, persisted: bool | None = None, reset: bool | None = None) -> "Log":
        """The mark-delete moves: in memory and then persisted, or only one of them. A seek back persists first."""
        both = [False, True] if not reset else [True, False]
        for durably in both if persisted is None else [persisted]:
            self.of_topic("mark_delete", sub=name, ledger=place[0], entry=place[1], persisted=durably, reset=reset)
        return self

    def ack(self, name: str, *places: Place, ack_type: str = "individual", batch_index: int | None = None) -> "Log":
        for ledger, entry in places:
            self.of_topic("ack", sub=name, consumer=0, ack_type=ack_type, ledger=ledger, entry=entry, batch_index=batch_index)
        return self

    def acked_to(self, name: str, place: Place) -> "Log":
        """A cumulative ack and what follows from it."""
        return self.ack(name, place, ack_type="cumulative").mark(name, place)

    def producers(self, count: int) -> "Log":
        for producer in range(count):
            self.of_topic("producer_open", producer=producer, conn=1)
        return self

    # ---- rounds ----------------------------------------------------------------------------------------------------------------

    def check(self, acts: str | None = None, policy: str = EVICTION, limit: int = 0, moves: list[tuple[str, Place]] | None = None) -> "Log":
        """A round over this one topic, at once. With `acts` (SIZE or AGE) the broker says so and moves cursors in that order."""
        self.add("quota_round", phase="start")
        if acts is not None:
            self.of_topic("quota_exceeded", quota_type=acts, policy=policy, limit=limit)
        for name, place in moves or []:
            self.mark(name, place)
        return self.of_topic("quota_check", duration_us=0).add("quota_round", phase="end", duration_us=0)

    def check_by_producer(self) -> "Log":
        return self.of_topic("quota_check", cause="producer")
