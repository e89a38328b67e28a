"""One connection: what it may write, why nothing is read from it, and the figures of its open window.

Two trackers. `believed` is the broker's as far as the log tells: the buffer type by rule, the cooldown type by the log where the log
carries `throttle` events (else by rule), the others by the log. `modelled` decides both by rule, whatever the log says, and is compared.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from bookkeeper.channel_limiter import CooldownLimiter
from bookkeeper.channel_settings import ChannelSettings
from bookkeeper.channel_stretch import OpenCooldown, PauseTimer, Stretch
from bookkeeper.channel_tracker import BUFFER, COOLDOWN, DECIDED, TYPES, Result, Tracker

Row = dict[str, Any]

#: Sums of a window, beside the times.
COUNTED = (
    *("paused_count", "resumed_count", "modelled_paused_count", "modelled_resumed_count"),
    *("unwritable_count", "writability_repeats", "mark_mismatches", "marks_dropped", "requests", "requests_limited"),
    *(f"{name}_{verdict}" for name in DECIDED.values() for verdict in ("agreed", "only_logged", "only_modelled")),
)
#: The greatest number at once in a window.
MOST = ("producers_paused_max", "topics_paused_max", "consumers_unwritable_max", "subscriptions_unwritable_max")
NOT_LIMITED = ("PING", "PONG")
NEVER_NS = 2**63


@dataclass(frozen=True)
class Moment:
    """Of an event, or of a timer that the event of `seq` found due."""

    ts: int
    ns: int
    seq: int


@dataclass
class Rules:
    """Of the epoch. `pause` may be proven by the log where its settings are lost; `carries`: a `throttle` event was seen."""

    settings: ChannelSettings
    pause: bool = False
    carries: bool = False


class Connection:
    """`transitions` are those of its life; `limited_publishes` are topics of producers, once per pause, until somebody takes them."""

    def __init__(self, conn: int, rules: Rules, at: Moment, *, begun: bool, remote: str | None = None) -> None:
        self.conn, self.rules, self.remote = conn, rules, remote
        self.opened_at, self.complete = at.ts, begun and rules.settings.known
        self.writable = True
        self.believed, self.modelled = Tracker(), Tracker()
        self.limiter = CooldownLimiter(rules.settings.permits, rules.settings.period_ms, at.ts // 1000)
        self.unwritable, self.paused, self.cooldown = Stretch(), Stretch(), OpenCooldown()
        self.by_type = {name: Stretch() for name in TYPES}
        self.timer: PauseTimer | None = None
        self.believed_by_timer = False
        self.expected: dict[str, bool | None] = dict.fromkeys(DECIDED)
        self.producers: dict[int, str] = {}
        self.consumers: dict[int, tuple[str, str]] = {}
        self.pending_last: int | None = None
        self.pending_max: int | None = None
        self.pending_at_least = 0
        self.window: Counter[str] = Counter()
        self.touched = False
        self.transitions: list[Row] = []
        self.limited_publishes: list[str] = []

    # ---- events ----------------------------------------------------------------------------------------------------------------

    def hear_writability(self, writable: bool, pending: int, at: Moment) -> None:
        """The channel's handler ran. It may run late: of a short excursion it finds the channel writable twice."""
        self.touched = True
        settings = self.rules.settings
        repeated = writable == self.writable
        self.window["mark_mismatches"] += settings.known and (pending > settings.high if writable else pending < settings.low)
        self.window["writability_repeats"] += repeated
        self.window["unwritable_count"] += not writable and not repeated
        self.pending_last, self.pending_max = pending, max(pending, self.pending_max or 0)
        over = settings.high + 1 if writable and repeated and settings.known else 0
        self.pending_at_least = max(self.pending_at_least, pending, over)
        if not repeated:
            self.writable = writable
            self._report("writable" if writable else "unwritable", None, "writability", at, pending=pending)
            (self.unwritable.end(at.ns) if writable else self.unwritable.begin(at.ts, at.ns))
        if self.rules.pause:
            for tracker in (self._believe, self._model):
                tracker(BUFFER, not writable, "writability", at)
            if writable:
                self._open_cooldown(at)

    def _open_cooldown(self, at: Moment) -> None:
        length_ms = self.rules.settings.cooldown_ms
        self.limiter.open(at.ts // 1000, length_ms)
        if length_ms > 0:
            opened = self.cooldown.open(at.ts, at.ns, length_ms)
            self._report("cooldown_opened" if opened else "cooldown_restarted", None, "writability", at)

    def hear_request(self, command: str, at: Moment) -> None:
        """Handled whatever the limiter says."""
        self.touched = True
        self.window["requests"] += 1
        settings = self.rules.settings
        if not self.rules.pause or settings.cooldown_ms <= 0 or command in NOT_LIMITED or self.limiter.acquire(1, at.ts // 1000) > 0:
            return
        self.window["requests_limited"] += 1
        if self.timer is None:
            self.timer = PauseTimer(at.ns + settings.period_ms * 1_000_000, (at.ts, at.ns))
            self._model(COOLDOWN, True, "request_refused", at)
            if not self.rules.carries:
                self.believed_by_timer = self._believe(COOLDOWN, True, "request_refused", at)

    def hear_throttle(self, throttle_type: str, on: bool, at: Moment) -> None:
        """The broker says that it set or cleared a reason."""
        self.touched = True
        if throttle_type in DECIDED:
            self._compare(throttle_type, on)
        if throttle_type == COOLDOWN and self.believed_by_timer:
            self.believed_by_timer = False
            if on:
                return
        if throttle_type != BUFFER:
            self._believe(throttle_type, on, "logged", at)
        if throttle_type not in DECIDED:
            self._model(throttle_type, on, "logged", at)

    def hear_total(self, total: int, others: int) -> None:
        """A heartbeat while this is the only unwritable channel: each of `others` holds the high mark at most."""
        self.pending_at_least = max(self.pending_at_least, total - others * self.rules.settings.high)

    def fire_timer(self, seq: int) -> None:
        """The pause of a refused request is over."""
        assert self.timer is not None
        at = Moment(self.timer.due_ts, self.timer.due_ns, seq)
        self.timer, self.touched = None, True
        self._model(COOLDOWN, False, "cooldown_timer", at)
        if self.believed_by_timer:
            self.believed_by_timer = False
            self._believe(COOLDOWN, False, "cooldown_timer", at)

    def close_cooldown(self, ns: int, seq: int, border: int | None = None) -> None:
        """The cooldown may have ended by `ns` (and by `border`)."""
        ended = self.cooldown.over(ns, border)
        if ended is not None:
            self._report("cooldown_closed", None, "cooldown_over", Moment(*ended, seq))

    # ---- trackers --------------------------------------------------------------------------------------------------------------

    def _believe(self, throttle_type: str, on: bool, cause: str, at: Moment) -> bool:
        result = self.believed.change(throttle_type, on)
        if result is Result.DROPPED:
            self.window["marks_dropped"] += 1
            return False
        self._last(self.by_type[throttle_type], self.believed.states[throttle_type] > 0, at)
        if result is Result.CONNECTION:
            self.window["paused_count" if on else "resumed_count"] += 1
            self._last(self.paused, on, at)
            if on:
                self.limited_publishes += self.producers.values()
        self._report("throttled" if on else "unthrottled", throttle_type, cause, at, changed=result is Result.CONNECTION)
        return True

    @staticmethod
    def _last(stretch: Stretch, on: bool, at: Moment) -> None:
        if on:
            stretch.begin(at.ts, at.ns)
        else:
            stretch.end(at.ns)

    def _model(self, throttle_type: str, on: bool, cause: str, at: Moment) -> None:
        result = self.modelled.change(throttle_type, on)
        if result is Result.CONNECTION:
            self.window["modelled_paused_count" if on else "modelled_resumed_count"] += 1
        if result is not Result.DROPPED and throttle_type in DECIDED:
            self.window[f"{DECIDED[throttle_type]}_only_modelled"] += self.rules.carries and self.expected[throttle_type] is not None
            self.expected[throttle_type] = on

    def _compare(self, throttle_type: str, on: bool) -> None:
        agreed = self.expected[throttle_type] is on
        self.window[f"{DECIDED[throttle_type]}_{'agreed' if agreed else 'only_logged'}"] += 1
        if agreed:
            self.expected[throttle_type] = None

    def _report(self, change: str, of: str | None, cause: str, at: Moment, *, changed: bool = False, pending: int | None = None) -> None:
        what = {"conn": self.conn, "seq": at.seq, "ts": at.ts, "ns": at.ns, "change": change, "throttle_type": of, "cause": cause}
        after = {"auto_read": self.believed.count == 0, "throttle_count": self.believed.count, "changed_connection": changed}
        self.transitions.append(what | after | {"pending_bytes": pending})

    @property
    def timer_due_ns(self) -> int:
        """When its timer is due: no border that comes before that is later on its clock."""
        return self.timer.due_ns if self.timer is not None else NEVER_NS

    @property
    def next_due_ns(self) -> int:
        """When its timer is due or its cooldown over."""
        return min(self.timer_due_ns, self.cooldown.end_ns if self.cooldown.anchor is not None else NEVER_NS)

    # ---- time and rows ---------------------------------------------------------------------------------------------------------

    @property
    def stretches(self) -> list[Stretch]:
        """All of them."""
        return [self.unwritable, self.paused, self.cooldown, *self.by_type.values()]

    def note_sufferers(self) -> None:
        """Who is held by it now."""
        producers, consumers = self.producers.values(), self.consumers.values()
        held = (len(producers), len(set(producers))) if self.believed.count > 0 else (0, 0)
        slow = (0, 0) if self.writable else (len(consumers), len(set(consumers)))
        for name, now in zip(MOST, (*held, *slow), strict=True):
            self.window[name] = max(self.window[name], now)

    def end(self, ns: int) -> None:
        """Closed: what lasts ends, and a pause that the log never had is known to be none. Nothing is resumed."""
        for stretch in self.stretches:
            stretch.end(ns)
        for throttle_type, name in DECIDED.items():
            self.window[f"{name}_only_modelled"] += self.rules.carries and self.expected[throttle_type] is True

    def take_row(self, closed_at: int | None = None) -> list[Row]:
        """The row of the window that ends, if anything happened or lasted in it; the next window begins."""
        settings = self.rules.settings
        times = {"unwritable_ns": self.unwritable.take(), "paused_ns": self.paused.take(), "cooldown_ns": self.cooldown.take()}
        times |= {f"throttled_ns_by_{TYPES[name]}": stretch.take() for name, stretch in self.by_type.items()}
        row = {"conn": self.conn, "opened_at": self.opened_at, "closed_at": closed_at, "remote": self.remote, "complete": self.complete}
        row |= {"settings_vocabulary": settings.vocabulary, "pause_enabled": self.rules.pause}
        row |= {"water_marks_usable": settings.water_marks_usable}
        row |= {"writable": self.writable, "paused": self.believed.count > 0, **times}
        row |= {name: int(self.window[name]) for name in (*COUNTED, *MOST)}
        row |= {
            "pending_bytes_last": self.pending_last,
            "pending_bytes_max": self.pending_max,
            "pending_bytes_at_least": self.pending_at_least,
        }
        worth_it = self.touched or any(times.values())
        self.touched, self.window, self.pending_max = False, Counter(), self.pending_last
        self.pending_at_least = 0 if self.writable or not settings.known else settings.low
        self.note_sufferers()
        return [row] if worth_it else []
