"""A broker with one topic that writes its log and knows, at every moment, what holds each subscription back (docs/causes.md).

Slow and obvious: between any two events every subscription is asked for its cause, with sets of entries instead of counts. It shares no
code with the product.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

Event = dict[str, Any]
Cause = tuple[str, str | None, str | None, str | None]

START_US = 1_795_260_000_000_000  # the start of a window
START_NS = 7_000_000_000_000
WINDOW_US = 60_000_000
TOPIC = "persistent://t/n/a"
STALL_NS = 5_000_000_000
LEVELS = ("broker", "topic", "sub")
KEY_SHARED = "Key_Shared"
#: No cause: reads and deliveries can follow each other.
FREE: Cause = ("free", None, None, None)


def plain(cause: str) -> Cause:
    return cause, None, None, None


@dataclass
class Subscription:
    """What the broker knows of one, and what our rules can know of it."""

    name: str
    sub_type: str
    mark: int = 0  # entries before it are gone
    acked: set[int] = field(default_factory=set)
    delivered: list[int] = field(default_factory=list)
    held: int = 0
    conns: list[int] = field(default_factory=list)  # of its consumers
    permits: int = 0  # of the latest read, less what was delivered
    granted: int | None = None
    capped: set[str] = field(default_factory=set)
    blocked: tuple[str, str] | None = None
    out: bool = False
    moved_ns: int = 0
    again: bool = False  # something was redelivered
    most: str | None = None  # where most of its backlog was when it was weighed: at a read or delivery, or when nothing held it any more


class CauseBroker:
    """`events` is its log; `charged` what it knows: (subscription, window start) → cause → ns."""

    def __init__(self, version: str | None, sub_types: tuple[str, ...]) -> None:
        self.tells = version is not None
        self.events: list[Event] = []
        self.charged: dict[tuple[str, int], Counter[Cause]] = {}
        self.us, self.charged_us = 0, 0
        self.published = 0
        self.unwritable: set[int] = set()
        self.turnarounds: list[int] = []
        self.normal_ns, self.next_look = 0, 16
        self.subs: list[Subscription] = []
        self.next_conn = 1
        self._emit("broker_start", cluster="c", version="4.0.8", settings={}, **({"log_version": version} if version else {}))
        self._emit("topic_load", topic=TOPIC)
        self._emit("ledger_open", topic=TOPIC, ledger=5, snapshot=True)
        for number, sub_type in enumerate(sub_types):
            sub = Subscription(f"s{number}", sub_type)
            self.subs.append(sub)
            self._of(sub, "cursor_open", durable=True, ledger=5, entry=-1)
            self._of(sub, "dispatcher_open", sub_type=sub_type)

    # ---- time ------------------------------------------------------------------------------------------------------------------

    def wait(self, us: int) -> None:
        """Time passes, and is charged."""
        end_us = self.us + us
        while self.us < end_us:
            cuts = [end_us, self.us - self.us % WINDOW_US + WINDOW_US]
            for sub in self.subs:
                cuts += [max(self.us, -(-deadline // 1000)) for deadline in (sub.moved_ns + STALL_NS, sub.moved_ns + self.normal_ns)]
            until_us = min(cut for cut in cuts if cut > self.us)
            for sub in self.subs:
                self._charge(sub, self.us * 1000, until_us * 1000)
            self.us = until_us

    def _charge(self, sub: Subscription, from_ns: int, to_ns: int) -> None:
        """No deadline but one below 1 µs lies within."""
        if not self.backlog(sub):
            return
        window = self.charged.setdefault((sub.name, START_US + self.us - self.us % WINDOW_US), Counter())
        between = sub.moved_ns + self.normal_ns
        for first, last in (
            ((from_ns, min(to_ns, between)), (max(from_ns, between), to_ns)) if from_ns < between < to_ns else ((from_ns, to_ns),)
        ):
            window[self.cause(sub, first)] += last - first

    def cause(self, sub: Subscription, ns: int) -> Cause:
        """What holds the subscription back from `ns` on, or, if nothing does, where most of its backlog is."""
        self.look()
        held = self.held_by(sub, ns)
        return plain(sub.most or "") if held == FREE else held

    def look(self) -> None:
        """After each event: where most of a backlog is that nothing holds. `most` is None where it has to be looked at."""
        for sub in self.subs:
            if not self.is_free(sub):
                sub.most = None
            elif sub.most is None:
                parts = {"catching_up": len(self.waiting(sub)) - sub.held, "in_flight": len(sub.delivered), "delayed": sub.held}
                sub.most = max(parts, key=lambda part: parts[part])  # of equal ones the first

    def is_free(self, sub: Subscription) -> bool:
        """Whether there is a backlog, and reads and deliveries can follow each other, however long that takes."""
        return bool(self.backlog(sub)) and self.held_by(sub, sub.moved_ns) == FREE

    def held_by(self, sub: Subscription, ns: int) -> Cause:
        """What holds the subscription back from `ns` on."""
        waiting = len(self.backlog(sub)) - len(sub.delivered)
        if not sub.conns:
            return plain("no_consumer")
        if all(conn in self.unwritable for conn in sub.conns):
            return plain("channel")
        if waiting == 0:
            return plain("in_flight")
        if waiting <= sub.held:
            return plain("delayed")
        if sub.capped:
            return plain("unacked_limit")
        is_stalled = ns >= sub.moved_ns + STALL_NS
        stalled = (
            plain("stuck") if self.tells and not sub.out and sub.sub_type != KEY_SHARED else ("unknown", None, None, "not_in_this_log")
        )
        if sub.blocked:
            level, dimension = sub.blocked
            return stalled if is_stalled else ("throttled", {"sub": "subscription"}.get(level, level), dimension, None)
        if sub.permits <= 0:
            return stalled if is_stalled and (sub.granted or 0) > 0 else plain("no_permits")
        if is_stalled and not (sub.out and self.tells and sub.sub_type != KEY_SHARED):
            return stalled
        is_slow = sub.out and self.normal_ns and ns >= sub.moved_ns + self.normal_ns
        return plain("reading") if is_slow else FREE

    def _measure(self, sub: Subscription) -> None:
        if sub.out and self.us * 1000 > sub.moved_ns and self.is_free(sub):
            self.turnarounds.append(self.us * 1000 - sub.moved_ns)
            if len(self.turnarounds) >= self.next_look:
                median = sorted(self.turnarounds)[(len(self.turnarounds) + 1) // 2 - 1]
                self.normal_ns = 8 * 2 ** median.bit_length()
                self.next_look = len(self.turnarounds) + len(self.turnarounds) // 8

    # ---- what happens ----------------------------------------------------------------------------------------------------------

    def backlog(self, sub: Subscription) -> list[int]:
        return [entry for entry in range(sub.mark, self.published) if entry not in sub.acked]

    def waiting(self, sub: Subscription) -> list[int]:
        """Entries that may be delivered, but for those held."""
        return [entry for entry in self.backlog(sub) if entry not in sub.delivered]

    def publish(self, entries: int) -> None:
        for _ in range(entries):
            idle = [sub for sub in self.subs if len(self.waiting(sub)) <= sub.held]
            idle = [sub for sub in idle if not self.backlog(sub) or self.held_by(sub, self.us * 1000)[0] in ("in_flight", "delayed")]
            self._emit("publish", topic=TOPIC, ledger=5, entry=self.published, msgs=1, bytes=10, publish_ts=1)
            self.published += 1
            for sub in idle:
                sub.moved_ns = self.us * 1000

    def come(self, number: int) -> None:
        """A consumer on a connection of its own."""
        sub = self.subs[number]
        self._of(sub, "consumer_open", consumer=0, conn=self.next_conn)
        sub.conns.append(self.next_conn)
        self.next_conn += 1
        if len(sub.conns) == 1:
            sub.permits, sub.out, sub.blocked, sub.capped, sub.granted = 0, False, None, set(), 0
        sub.moved_ns = self.us * 1000

    def leave(self, number: int) -> None:
        """The first consumer leaves. With the last one all that was delivered goes back."""
        sub = self.subs[number]
        if not sub.conns:
            return
        conn = sub.conns.pop(0)
        self._of(sub, "consumer_close", consumer=0, conn=conn)
        sub.moved_ns, sub.granted = self.us * 1000, None
        if not sub.conns:
            sub.delivered, sub.permits, sub.out, sub.blocked, sub.capped, sub.again = [], 0, False, None, set(), False

    def grant(self, number: int, permits: int) -> None:
        sub = self.subs[number]
        if not (self.tells and sub.conns):
            return
        before = sub.granted
        self._of(sub, "flow", consumer=0, conn=sub.conns[0], permits=permits)
        if before is not None:
            sub.granted = before + permits
            if before <= 0 < sub.granted and not sub.out and sub.permits <= 0:
                sub.moved_ns = self.us * 1000

    def read(self, number: int, permits: int, blocked: tuple[str, str] | None) -> None:
        sub = self.subs[number]
        if not sub.conns:
            return
        answers: dict[str, int] = {}
        if blocked:
            answers = {f"{blocked[0]}_msgs": -1, f"{blocked[0]}_bytes": -1} | {
                f"{blocked[0]}_{ {'msg': 'msgs'}.get(blocked[1], blocked[1]) }": 0
            }
        self._of(sub, "read", sub_type=sub.sub_type, want_msgs=100, want_bytes=10_000, permits=permits, **answers)
        if blocked or not sub.out:
            sub.moved_ns = self.us * 1000
        sub.blocked, sub.out, sub.permits, sub.most = blocked, not blocked, permits, None

    def deliver(self, number: int, entries: int) -> None:
        sub = self.subs[number]
        given = self.waiting(sub)[:entries]
        if not (sub.conns and sub.out and given):
            return
        self._measure(sub)
        self._of(sub, "dispatch", entries=len(given), msgs=len(given), bytes=10 * len(given))
        sub.delivered += given
        sub.held = min(sub.held, 10**9)
        sub.out, sub.moved_ns, sub.most = False, self.us * 1000, None
        sub.permits -= len(given)
        if sub.granted is not None:
            sub.granted -= len(given)

    def answer(self, number: int, fails: bool) -> None:
        """Storage has answered."""
        sub = self.subs[number]
        if not (self.tells and sub.out):
            return
        if not fails:
            self._measure(sub)
        self._of(sub, "read_done", entries=1, bytes=1, **({"error": "E"} if fails else {}))
        if not fails:
            sub.out, sub.moved_ns = False, self.us * 1000

    def acknowledge(self, number: int, entries: int, first: int) -> None:
        """Delivered entries, from the `first`-th on; then the mark-delete position moves over all that is whole."""
        sub = self.subs[number]
        for entry in sub.delivered[first : first + entries]:
            self._of(sub, "ack", consumer=0, ack_type="individual", ledger=5, entry=entry)
            sub.acked.add(entry)
            sub.delivered.remove(entry)
        self._move(sub)

    def acknowledge_all_to(self, number: int, back: int) -> None:
        """A cumulative acknowledgement: of all but the last `back` delivered entries."""
        sub = self.subs[number]
        upto = sorted(sub.delivered)[: max(0, len(sub.delivered) - back)]
        if not upto or set(range(sub.mark, upto[-1] + 1)) - sub.acked - set(sub.delivered):
            return
        self._of(sub, "ack", consumer=0, ack_type="cumulative", ledger=5, entry=upto[-1])
        self._of(sub, "mark_delete", ledger=5, entry=upto[-1], persisted=False)
        sub.acked |= set(upto)
        sub.delivered = [entry for entry in sub.delivered if entry not in sub.acked]
        sub.mark = upto[-1] + 1
        self._move(sub)

    def _move(self, sub: Subscription) -> None:
        mark = sub.mark
        while mark in sub.acked:
            mark += 1
        if mark > sub.mark:
            self._of(sub, "mark_delete", ledger=5, entry=mark - 1, persisted=False)
            sub.mark = mark

    def evict(self, number: int, entries: int) -> None:
        """The oldest entries go, delivered or not. Where holes or redeliveries hide what was delivered our rules estimate."""
        sub = self.subs[number]
        gone = self.backlog(sub)[:entries]
        if not gone or sub.again or sub.acked - set(range(sub.mark)):
            return
        self._of(sub, "mark_delete", ledger=5, entry=gone[-1], persisted=False)
        sub.mark = gone[-1] + 1
        sub.delivered = [entry for entry in sub.delivered if entry >= sub.mark]

    def seek(self, number: int, entry: int) -> None:
        sub = self.subs[number]
        place = min(entry, self.published)
        self._of(sub, "mark_delete", ledger=5, entry=place - 1, persisted=False, reset=True)
        sub.mark, sub.acked, sub.delivered, sub.again = place, set(range(place)), [], False
        sub.moved_ns = self.us * 1000

    def give_back(self, number: int, entries: int) -> None:
        """Delivered entries are asked for again."""
        sub = self.subs[number]
        if not (self.tells and sub.delivered):
            return
        again = sub.delivered[:entries]
        self._of(sub, "redeliver", cause="requested", entries=len(again))
        sub.delivered = sub.delivered[len(again) :]
        sub.again, sub.moved_ns = True, self.us * 1000

    def hold(self, number: int, entries: int) -> None:
        """So many of the entries that wait are held for later."""
        sub = self.subs[number]
        if self.tells:
            self._of(sub, "delayed", entries=entries)
            sub.held, sub.moved_ns = entries, self.us * 1000

    def cap(self, number: int, which: str, on: bool) -> None:
        sub = self.subs[number]
        if not (self.tells and sub.conns) or (which in sub.capped) == on:
            return
        self._of(sub, "consumer_blocked", cap=which, on=on)
        sub.capped ^= {which}
        sub.moved_ns = self.us * 1000

    def fill(self, number: int, position: int, writable: bool) -> None:
        """A connection of a consumer crosses a water mark."""
        sub = self.subs[number]
        if position >= len(sub.conns):
            return
        conn = sub.conns[position]
        self._emit("writability", conn=conn, writable=writable, pending_bytes=10)
        (self.unwritable.discard if writable else self.unwritable.add)(conn)
        if self.backlog(sub):
            sub.moved_ns = self.us * 1000
            self._weigh_if_elsewhere(sub)

    def beat(self) -> None:
        self._emit("heartbeat", dropped=0)

    def _of(self, sub: Subscription, kind: str, **payload: Any) -> None:
        self._emit(kind, topic=TOPIC, sub=sub.name, **payload)
        if kind not in ("flow", "read_done"):
            self._weigh_if_elsewhere(sub)

    def _weigh_if_elsewhere(self, sub: Subscription) -> None:
        """Most of its backlog is not what waits: whatever happens to it may change that."""
        if sub.most != "catching_up":
            sub.most = None

    def _emit(self, kind: str, **payload: Any) -> None:
        self.look()
        head = {"v": 1, "broker": "b:1", "epoch": 1, "seq": len(self.events) + 1, "ts": START_US + self.us, "ns": START_NS + self.us * 1000}
        self.events.append({**head, "type": kind, **payload})
