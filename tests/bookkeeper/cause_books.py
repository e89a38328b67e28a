"""What holds each subscription of a broker back, at every moment (docs/design/causes.md): the state of the books, and how time is divided.

Slow and obvious: after every event every subscription that it is about is asked what holds it, with sets of entries instead of counts. What
passes until its next event is divided then, by what is known by then. It shares no code with the product.
"""

from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

Event = dict[str, Any]
#: Cause, level, dimension, reason of unknown, cap.
Cause = tuple[str, str | None, str | None, str | None, str | None]

START_US = 1_795_260_000_000_000  # the start of a window
START_NS = 7_000_000_000_000
WINDOW_US = 60_000_000
TOPIC = "persistent://t/n/a"
SECOND = 1_000_000_000
STALL_NS = 5 * SECOND
MINUTE_NS = 60 * SECOND
NEVER = 1 << 80
LEVELS = ("broker", "topic", "sub")
KEY_SHARED = "Key_Shared"


def plain(cause: str, cap: str | None = None) -> Cause:
    return cause, None, None, None, cap


#: No cause: reads and deliveries can follow each other.
FREE = plain("free")
NOT_IN_THIS_LOG: Cause = ("unknown", None, None, "not_in_this_log", None)


@dataclass
class Subscription:
    """What the broker knows of one, and what our rules can know of it."""

    name: str
    sub_type: str
    mark: int = 0  # entries before it are gone
    acked: set[int] = field(default_factory=set)
    delivered: list[int] = field(default_factory=list)
    ever: set[int] = field(default_factory=set)  # delivered at least once
    aside: int = 0  # entries that storage gave and nobody took
    held: int = 0
    conns: list[int] = field(default_factory=list)  # of its consumers
    permits: int = 0  # of the latest read, less what was delivered
    asks_others: bool = False  # since then: a consumer left, or another one may be the active one
    granted: int | None = None
    capped: set[str] = field(default_factory=set)
    sure_capped: int = 0  # consumers that have reached their cap, at least
    maybe_capped: bool = False  # and maybe others: it is not followed who has left
    blocked: tuple[str, str] | None = None
    #: "storage": a read is out; "parked": and nothing waited when it was asked for; "beyond": and all that waited lay aside
    out: str | None = None
    answered: bool = False  # a read came back, and what it brought is not delivered
    came: str = "entries"  # what the latest read brought: "entries", "nothing", "replay"
    moved_ns: int = 0
    progress_ns: int = 0
    in_vain: int = 0  # reads that came back since
    asked_again: int = 0
    repeats: int = 0  # deliveries of entries that had been delivered, less two for each acknowledged entry
    repeated_ns: int = -1
    again: bool = False  # something was redelivered
    most: str | None = None  # where most of its backlog was when it was weighed: at a read or delivery, or when nothing held it any more
    account: Cause | None = None  # what held it when it was last asked
    is_asked: bool = True  # it is to be asked again
    is_awaited: bool = False  # nothing waited when it was asked: the next publish asks it again
    passed: list[tuple[int, int]] = field(default_factory=list)  # time that is not divided yet, ns

    def progress(self, ns: int) -> None:
        self.moved_ns = self.progress_ns = ns
        self.in_vain = 0


class CauseBooks:
    """`events` is the log of the broker; `charged` what it knows: (subscription, window start) → cause → ns."""

    def __init__(self, version: str | None, sub_types: tuple[str, ...]) -> None:
        self.tells = version is not None
        self.events: list[Event] = []
        self.charged: dict[tuple[str, int], Counter[Cause]] = {}
        self.us = 0
        self.published = 0
        self.transaction: str | None = None  # "open", "ended"
        self.unwritable: set[int] = set()
        self.turnarounds: list[int] = []
        self.normal_ns, self.next_look = 0, 16
        self.slow_ns = self.good_ns = -NEVER
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

    @property
    def ns(self) -> int:
        return self.us * 1000

    def wait(self, us: int) -> None:
        """Time passes. At the end of a window all of it is divided."""
        self.ask()
        end_us = self.us + us
        while self.us < end_us:
            border_us = self.us - self.us % WINDOW_US + WINDOW_US
            until_us = min(end_us, border_us)
            for sub in self.subs:
                if self.backlog(sub):
                    sub.passed.append((self.ns, until_us * 1000))
            self.us = until_us
            if self.us == border_us:
                for sub in self.subs:
                    self._divide(sub)
                    if self.backlog(sub) and sub.repeats and self.ns - sub.repeated_ns > 2 * MINUTE_NS:
                        sub.repeats, sub.is_asked = 0, True
                self.ask()

    def _divide(self, sub: Subscription) -> None:
        """Charge what has passed, by what is known now."""
        for from_ns, to_ns in sub.passed:
            window_us = from_ns // 1000 // WINDOW_US * WINDOW_US
            window = self.charged.setdefault((sub.name, START_US + window_us), Counter())
            changes = sorted({from_ns, to_ns, *(ns for ns in self._deadlines(sub) if from_ns < ns < to_ns)})
            for first, last in pairwise(changes):
                window[self._cause(sub, first)] += last - first
        sub.passed = []

    def _divide_if_due(self, sub: Subscription) -> None:
        if any(ns < self.ns for ns in self._deadlines(sub)):
            self._divide(sub)

    # ---- what holds a subscription ---------------------------------------------------------------------------------------------

    def ask(self) -> None:
        """Ask every subscription about which something happened what holds it."""
        for sub in self.subs:
            if not sub.is_asked:
                continue
            sub.is_asked = False
            sub.is_awaited = sub.is_awaited or len(self.waiting(sub)) <= sub.held
            if not self.backlog(sub):
                sub.repeats, sub.aside = 0, 0
            sub.aside = min(sub.aside, len(self.waiting(sub)))
            held = self.held_by(sub) if self.backlog(sub) else None
            if held == FREE and sub.account == plain("transaction"):
                sub.progress_ns, sub.in_vain = self.ns, 0
            if held != FREE:
                sub.most = None
            elif sub.most is None:
                parts = {"catching_up": len(self.waiting(sub)) - sub.held, "in_flight": len(sub.delivered), "delayed": sub.held}
                sub.most = max(parts, key=lambda part: parts[part])  # of equal ones the first
            account = plain("free " + (sub.most or "")) if held == FREE else held
            if account != sub.account:
                self._divide(sub)
                sub.account = account

    def held_by(self, sub: Subscription) -> Cause:
        """What holds the subscription back, however long."""
        waiting = len(self.waiting(sub))
        if not sub.conns:
            return plain("no_consumer")
        if all(conn in self.unwritable for conn in sub.conns):
            return plain("channel")
        if sub.repeats > 2 * len([entry for entry in self.backlog(sub) if entry in sub.ever]) > 0:
            return plain("redelivery")
        if waiting == 0:
            return plain("in_flight")
        if waiting <= sub.held:
            return plain("delayed")
        if sub.sure_capped >= len(sub.conns):
            return plain("unacked_limit", "consumer")
        if sub.capped:
            return plain("unacked_limit", "subscription" if "subscription" in sub.capped else "broker")
        if sub.blocked:
            level, dimension = sub.blocked
            return "throttled", {"sub": "subscription"}.get(level, level), dimension, None, None
        if sub.permits <= 0:
            return plain("no_permits" if sub.delivered else "no_flow")
        if sub.came == "nothing" and self.transaction == "open":
            return plain("transaction")
        is_keyed = sub.sub_type == KEY_SHARED and self.tells and sub.aside > sub.held
        return plain("keys_blocked") if is_keyed and (sub.aside >= waiting or sub.asked_again >= 3) else FREE

    def _has_capped(self, sub: Subscription) -> bool:
        """Whether permits may be those of consumers that get nothing."""
        return sub.sure_capped > 0 or sub.maybe_capped

    def _is_slow(self, sub: Subscription) -> bool:
        return self.slow_ns >= sub.moved_ns - MINUTE_NS

    def _is_timed(self, sub: Subscription) -> bool:
        return sub.out in ("storage", "parked")

    def _is_at_storage(self, sub: Subscription) -> bool:
        return self.tells and sub.out == "storage" and sub.sub_type != KEY_SHARED

    def _is_free(self, sub: Subscription) -> bool:
        return sub.account is not None and sub.account[0].startswith("free")

    def _deadlines(self, sub: Subscription) -> tuple[int, ...]:
        """Moments at which the cause may change by time alone: a read is late; reads are in vain; nothing moves; a read is lost."""
        if sub.account is None:
            return ()
        if self._is_free(sub):
            is_slow = self._is_slow(sub)
            late_ns = sub.moved_ns + self.normal_ns if self._is_timed(sub) and self.normal_ns and is_slow else NEVER
            vain_ns = sub.progress_ns + STALL_NS if sub.in_vain >= 2 and sub.account == plain("free catching_up") else NEVER
            quiet_ns = NEVER if self._is_at_storage(sub) and is_slow else sub.moved_ns + STALL_NS
            lost_ns = max(quiet_ns, sub.moved_ns + MINUTE_NS) if self._is_at_storage(sub) else NEVER
            return late_ns, min(vain_ns, quiet_ns), quiet_ns, lost_ns
        name = sub.account[0]
        is_due = (
            name in ("throttled", "keys_blocked")
            or (name == "unacked_limit" and not sub.delivered)
            or (name in ("no_permits", "no_flow") and (sub.granted or 0) > 0 and not self._has_capped(sub))
        )
        return (NEVER, NEVER, sub.moved_ns + STALL_NS if is_due else NEVER, NEVER)

    def _cause(self, sub: Subscription, ns: int) -> Cause:
        """What holds the subscription from `ns` on."""
        assert sub.account is not None
        late_ns, vain_ns, quiet_ns, lost_ns = self._deadlines(sub)
        if ns >= lost_ns:
            return plain("stuck") if self.good_ns > sub.moved_ns and self.transaction != "open" else NOT_IN_THIS_LOG
        if ns >= quiet_ns:
            if sub.account[0] == "unacked_limit":
                return plain("stuck", sub.account[4])
            can_tell = self.tells and sub.out in (None, "parked") and sub.sub_type != KEY_SHARED and self.transaction != "open"
            can_tell = can_tell and not sub.asks_others and not self._has_capped(sub)
            return plain("stuck") if can_tell else NOT_IN_THIS_LOG
        if ns >= vain_ns:
            if sub.came == "nothing" and self.transaction:
                return plain("transaction")
            if sub.repeated_ns > sub.progress_ns:
                return plain("redelivery")
            return plain("keys_blocked") if sub.sub_type == KEY_SHARED and sub.aside > sub.held else NOT_IN_THIS_LOG
        if ns >= late_ns:
            return plain("reading")
        return plain(sub.account[0].removeprefix("free ")) if self._is_free(sub) else sub.account

    def _comes_back(self, sub: Subscription) -> None:
        """A read comes back, before its event is written."""
        took_ns = self.ns - sub.moved_ns
        if self._is_timed(sub) and self._is_free(sub) and self.normal_ns and not sub.asked_again and took_ns > self.normal_ns:
            self.slow_ns = self.ns

    def _measure(self, sub: Subscription) -> None:
        took_ns = self.ns - sub.moved_ns
        if not (self._is_timed(sub) and took_ns > 0 and self._is_free(sub)):
            return
        if self.normal_ns and took_ns <= self.normal_ns:
            self.good_ns = self.ns
        self.turnarounds.append(took_ns)
        if len(self.turnarounds) >= self.next_look:
            median = sorted(self.turnarounds)[(len(self.turnarounds) + 1) // 2 - 1]
            self.normal_ns = 8 * 2 ** median.bit_length()
            self.next_look = len(self.turnarounds) + len(self.turnarounds) // 8

    def backlog(self, sub: Subscription) -> list[int]:
        return [entry for entry in range(sub.mark, self.published) if entry not in sub.acked]

    def waiting(self, sub: Subscription) -> list[int]:
        """Entries that may be delivered, but for those held."""
        return [entry for entry in self.backlog(sub) if entry not in sub.delivered]

    def _of(self, sub: Subscription, kind: str, **payload: Any) -> None:
        """Write an event of the subscription. What has passed is divided, or what is overdue of it."""
        self._emit(kind, topic=TOPIC, sub=sub.name, **payload)
        if kind in ("read", "dispatch"):
            self._divide_if_due(sub)
        elif kind != "ack":
            self._divide(sub)
        elif self._is_looked_at(sub):
            self._divide_if_due(sub)
        else:
            return
        if kind not in ("flow", "read_done"):
            self._weigh_if_elsewhere(sub)
            sub.is_asked = True

    def _acks_moved(self, sub: Subscription, entry: int) -> None:
        """Acknowledgements of all up to the entry move the mark: they were looked at, if they were to be."""
        self._emit("mark_delete", topic=TOPIC, sub=sub.name, ledger=5, entry=entry, persisted=False)
        self._divide(sub)
        if self._is_about_each(sub):
            self._weigh_if_elsewhere(sub)
            sub.is_asked = True

    def _is_about_each(self, sub: Subscription) -> bool:
        """Whether each acknowledgement may change what holds the subscription."""
        return (self._is_free(sub) and sub.most != "catching_up") or sub.account == plain("redelivery") or sub.in_vain >= 2

    def _is_looked_at(self, sub: Subscription) -> bool:
        """Whether this acknowledgement may change what holds the subscription: others are not looked at."""
        has_limit = sub.account is not None and sub.account[0] in ("unacked_limit", "no_permits")
        return self._is_about_each(sub) or len(self.backlog(sub)) == 1 or (has_limit and len(sub.delivered) == 1)

    def _weigh_if_elsewhere(self, sub: Subscription) -> None:
        """Most of its backlog is not what waits: whatever happens to it may change that."""
        if sub.most != "catching_up":
            sub.most = None

    def _emit(self, kind: str, **payload: Any) -> None:
        self.ask()
        head = {"v": 1, "broker": "b:1", "epoch": 1, "seq": len(self.events) + 1, "ts": START_US + self.us, "ns": START_NS + self.us * 1000}
        self.events.append({**head, "type": kind, **payload})
