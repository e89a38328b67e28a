"""What consumers have, against a broker that knows every entry: what waits for an acknowledgement, and what the broker counts (§2.6)."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lane_tables import tables_of
from log_builder import SUB, TOPIC, Log
from suite.examples import examples

from pipeline.rules.broker import in_flight as invariants

LEDGER, ENTRIES = 5, 30
#: Before 4.0 acknowledgements of what was removed count down; then a read forgets what was removed; #25624 counts it down at once.
BEFORE_4_0, SEEN, TOLD = "3.3.9", "4.0.8", "4.0.11"


@dataclass
class Broker:
    """One Shared subscription with one consumer; entry k has `sizes[k]` messages. `pending` are the entries that it waits for."""

    version: str
    sizes: list[int]
    log: Log = field(default_factory=Log)
    pending: set[int] = field(default_factory=set)
    deleted: set[int] = field(default_factory=set)
    given_back: list[int] = field(default_factory=list)
    marked: int = -1
    next_read: int = 0
    unacked: int = 0
    unacked_entries: int = 0

    def __post_init__(self) -> None:
        self.log.start()
        self.log.events[0]["version"] = self.version
        for entry, msgs in enumerate(self.sizes):
            self.add("publish", ledger=LEDGER, entry=entry, msgs=msgs, bytes=100, publish_ts=1)
        self.add("consumer_open", sub=SUB, consumer=1, conn=1)

    def add(self, kind: str, **fields: Any) -> None:
        self.log.add(kind, topic=TOPIC, **fields)

    def count(self, entries: set[int] | list[int], sign: int) -> None:
        self.unacked += sign * sum(self.sizes[entry] for entry in entries)
        self.unacked_entries += sign * len(entries)

    def deliver(self, entries: int) -> None:
        self.read()
        again = [entry for entry in self.given_back if entry > self.marked and entry not in self.deleted][:entries]
        fresh = [entry for entry in range(max(self.next_read, self.marked + 1), len(self.sizes)) if entry not in self.deleted]
        which = again or fresh[:entries]
        if which:
            self.given_back = [entry for entry in self.given_back if entry not in which]
            self.next_read = max(self.next_read, which[-1] + 1)
            self.pending |= set(which)
            self.count(which, 1)
            self.add("dispatch", sub=SUB, entries=len(which), msgs=sum(self.sizes[entry] for entry in which), bytes=1)

    def read(self) -> None:
        self.log.read()
        if self.version != BEFORE_4_0:
            self.pending = {entry for entry in self.pending if entry > self.marked}

    def ack(self, place: int) -> None:
        """Of an entry that the broker waits for, or of one that it forgot."""
        waiting = sorted(self.pending)
        if waiting:
            entry = waiting[place % len(waiting)]
            self.pending.discard(entry)
            self.count({entry}, -1)
            self.add("ack", sub=SUB, consumer=1, ack_type="individual", ledger=LEDGER, entry=entry)
            if entry > self.marked:
                self.deleted.add(entry)
                end = self.marked
                while end + 1 in self.deleted:
                    end += 1
                self.move(end)

    def move(self, to: int) -> None:
        if to > self.marked:
            self.marked = to
            self.add("mark_delete", sub=SUB, ledger=LEDGER, entry=to, persisted=False)

    def remove(self, entries: int) -> None:
        """An eviction, to the end of the run of deleted ones that it meets."""
        to = min(self.marked + entries, len(self.sizes) - 1)
        while to + 1 in self.deleted:
            to += 1
        if self.version == TOLD:
            passed = {entry for entry in self.pending if entry <= to}
            self.pending -= passed
            self.count(passed, -1)
        self.add("quota_exceeded", quota_type="destination_storage", policy="consumer_backlog_eviction", limit=1)
        self.move(to)
        self.add("quota_check", duration_us=5)

    def give_back(self, entries: int) -> None:
        which = [entry for entry in sorted(self.pending) if entry > self.marked][:entries]
        if which:
            self.pending -= set(which)
            self.given_back += which
            self.count(which, -1)
            self.add("redeliver", sub=SUB, consumer=1, conn=1, cause="requested", entries=len(which))

    def leave(self, _: int) -> None:
        self.add("consumer_close", sub=SUB, consumer=1, conn=1)
        self.add("consumer_open", sub=SUB, consumer=1, conn=1)
        self.given_back = sorted({*self.given_back, *(entry for entry in self.pending if entry > self.marked)})
        self.pending, self.unacked, self.unacked_entries = set(), 0, 0

    def row(self) -> dict[str, Any]:
        self.add("quota_check", duration_us=5)
        rows = tables_of(self.log.events)["subscription_backlog"]
        return max(rows, key=lambda row: row["check_number"])


def run(version: str, sizes: list[int], steps: list[tuple[str, int]]) -> Broker:
    broker = Broker(version, sizes)
    for act, number in steps:
        getattr(broker, act)(number)
    return broker


ACTS = ("deliver", "deliver", "ack", "ack", "ack", "remove", "leave")
few = st.integers(1, 7)
versions = st.sampled_from([BEFORE_4_0, SEEN, TOLD])


@settings(max_examples=examples(150), deadline=None)
@given(versions, st.lists(st.tuples(st.sampled_from(ACTS), few), max_size=25))
def test_entries_of_one_message_are_counted_as_the_broker_counts_them(version: str, steps: list[tuple[str, int]]) -> None:
    broker = run(version, [1] * ENTRIES, steps)
    row = broker.row()
    assert (row["unacked_entries"], row["unacked_messages"]) == (broker.unacked_entries, broker.unacked)
    assert row["in_flight_entries"] == sum(entry > broker.marked for entry in broker.pending)


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(st.tuples(st.sampled_from((*ACTS[:5], "give_back", "leave")), few), max_size=25))
def test_what_is_given_back_leaves_the_count(steps: list[tuple[str, int]]) -> None:
    broker = run(SEEN, [1] * ENTRIES, steps)
    row = broker.row()
    assert (row["in_flight_entries"], row["unacked_entries"], row["unacked_messages"]) == (
        len(broker.pending),
        broker.unacked,
        broker.unacked,
    )


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(st.integers(1, 50), min_size=ENTRIES, max_size=ENTRIES), st.lists(st.tuples(st.sampled_from(ACTS), few), max_size=25))
def test_messages_of_batches_are_those_of_the_entries_or_not_known(sizes: list[int], steps: list[tuple[str, int]]) -> None:
    """A removal passes several entries at once, which the log does not name one by one."""
    broker = run(SEEN, sizes, steps)
    row = broker.row()
    assert row["unacked_entries"] == broker.unacked_entries
    assert row["unacked_messages"] in (broker.unacked, None)
    if not any(act == "remove" for act, _ in steps):
        assert row["unacked_messages"] == broker.unacked


def test_a_part_of_a_batch_makes_its_messages_unknown_until_nothing_is_in_flight() -> None:
    """A broker that acknowledges by batch index counts them down, another does not."""
    partly = {"ack_type": "individual", "ledger": LEDGER, "entry": 0, "batch_index": -1, "ack_set": [5]}
    messages = []
    for acks in (0, 1, 2):
        broker = run(SEEN, [3, 4, 5], [("deliver", 2)])
        broker.add("ack", sub=SUB, consumer=1, **partly)
        for _ in range(acks):
            broker.ack(0)
        broker.deliver(acks)
        messages.append(broker.row()["unacked_messages"])
    assert messages == [None, None, 5]


def test_a_marker_that_goes_by_itself_was_not_in_flight() -> None:
    """Of a transaction: the dispatcher reads it, delivers it to nobody, and takes it off the backlog."""
    broker = Broker(SEEN, [1] * 5)
    broker.add("dispatch", sub=SUB, entries=3, msgs=3, bytes=1)  # 0, 2 and 3
    broker.add("ack", sub=SUB, consumer=1, ack_type="individual", ledger=LEDGER, entry=0)
    broker.add("mark_delete", sub=SUB, ledger=LEDGER, entry=1, persisted=False)
    row = broker.row()
    assert (row["expired_entries"], row["in_flight_entries"], row["unacked_messages"]) == (1, 2, 2)


@pytest.mark.parametrize(("version", "counted"), [(BEFORE_4_0, 4), (SEEN, 4), (TOLD, 0)])
def test_a_backlog_that_is_cleared_leaves_nothing_in_flight(version: str, counted: int) -> None:
    broker = run(version, [1] * 9, [("deliver", 4)])
    broker.add("mark_delete", sub=SUB, ledger=LEDGER, entry=8, persisted=False)
    row = broker.row()
    assert (row["msg_backlog"], row["in_flight_entries"], row["unacked_messages"]) == (0, 0, counted)


@pytest.mark.parametrize("sub_type", ["Exclusive", "Failover"])
def test_the_broker_counts_nothing_of_types_that_acknowledge_up_to_a_position(sub_type: str) -> None:
    log = Log().start().add("dispatcher_open", topic=TOPIC, sub=SUB, sub_type=sub_type).publish(9).dispatch(4)
    (row,) = tables_of(log.add("quota_check", topic=TOPIC, duration_us=5).events)["subscription_backlog"]
    assert (row["in_flight_entries"], row["unacked_entries"], row["unacked_messages"]) == (4, 0, 0)


def test_sums_of_deliveries_never_wrap() -> None:
    cursor = SimpleNamespace(dispatched_entries=5, dispatched_msgs=2**62, in_flight=0, in_flight_msgs=1)
    deliver = getattr(invariants.deliver, "py_func", invariants.deliver)
    for _ in range(3):
        deliver(cursor, 2**62, 2**62)
    assert set(vars(cursor).values()) == {2**63 - 1}
