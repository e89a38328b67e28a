"""The books of one epoch of one broker: its time, its windows, and what each event does (docs/architecture.md, docs/throttling.md)."""

from dataclasses import dataclass, field
from typing import Any

from bookkeeper.backlog import TopicBacklog
from bookkeeper.dispatchers import Dispatcher
from bookkeeper.limiters import Limiter
from bookkeeper.longs import DIMENSIONS, LEVELS
from bookkeeper.walk import Answer, Walk, walk

Event = dict[str, Any]
Row = dict[str, Any]
BATCH_MODE = "dispatchThrottlingOnBatchMessageEnabled"
ANSWERS = {level: (f"{short}_msgs", f"{short}_bytes") for level, short in zip(LEVELS, ("broker", "topic", "sub"), strict=True)}


@dataclass
class Window:
    """The open window. `ended` are the rows of incarnations that ended in it, by table."""

    start: int
    end: int
    segment: int
    applied: int = 0
    missing: int = 0
    ended: dict[str, list[Row]] = field(default_factory=lambda: {"subscription_throttle": [], "limiter_windows": []})

    @property
    def completeness(self) -> float:
        """Share of the events of this window that were seen."""
        total = self.applied + self.missing
        return self.applied / total if total else 1.0


def ns_of(event: Event) -> int:
    """Monotonic time of an event; a log without it runs on ts."""
    ns = event.get("ns")
    return int(event["ts"]) * 1000 if ns is None else int(ns)


class EpochBooks:
    """Feed it `lose` and `apply` in seq order, then `end` or `drain`; `rows` has the tables."""

    def __init__(self, broker: str, epoch: int, window_ms: int, clock_step_ms: int) -> None:
        self.broker, self.epoch = broker, epoch
        self.window_us, self.clock_step_us = window_ms * 1000, clock_step_ms * 1000
        self.rows: dict[str, list[Row]] = {"subscription_throttle": [], "limiter_windows": [], "log_gaps": []}
        self.window: Window | None = None
        self.segment = 0
        self.last_ts: int | None = None
        self.last_ns = 0
        self.lost_before = 0
        self.loaded: set[str] = set()
        self.backlogs: dict[str, TopicBacklog] = {}
        self.dispatchers: dict[tuple[str, str], Dispatcher] = {}
        self.limiters: dict[tuple[str, str | None, str | None], Limiter] = {}
        self.batch_mode = False
        self.started = False

    # ---- what is missing -------------------------------------------------------------------------------------------------------

    def lose(self, first: int, last: int, ts_after: int) -> None:
        """The range first..last of seq is lost; the event at `ts_after` comes next."""
        self.lost_before = last - first + 1
        self._gap("lost", first, last, self.lost_before, ts_after, 0)
        self._make_incomplete()

    def _gap(self, kind: str, first: int, last: int, events: int, ts_after: int, step_us: int) -> None:
        gap = {"kind": kind, "from_seq": first, "to_seq": last, "events": events}
        times = {"ts_before": self.last_ts, "ts_after": ts_after, "step_us": step_us}
        self.rows["log_gaps"].append({"broker": self.broker, "epoch": self.epoch, **gap, **times})

    def _make_incomplete(self) -> None:
        for dispatcher in self.dispatchers.values():
            dispatcher.complete = False
        for limiter in self.limiters.values():
            limiter.complete = False

    # ---- time ------------------------------------------------------------------------------------------------------------------

    def apply(self, event: Event) -> None:
        """The next event in seq order, or a tombstone."""
        ts, ns = int(event["ts"]), ns_of(event)
        self._move_time(ts, ns, int(event["seq"]))
        assert self.window is not None
        self.last_ts, self.last_ns, self.lost_before = ts, ns, 0
        if event.get("tombstone"):
            self.window.missing += 1
            self._make_incomplete()
            return
        self.window.applied += 1
        handler = getattr(self, f"_on_{event['type']}", None)
        if handler is not None:
            handler(event, ts, ns)

    def _move_time(self, ts: int, ns: int, seq: int) -> None:
        if self.window is None or self.last_ts is None:
            self._open_window(ts)
            return
        self.window.missing += self.lost_before
        step_us = (ts - self.last_ts) - (ns - self.last_ns) // 1000
        stepped = abs(step_us) > self.clock_step_us
        if stepped:
            self._gap("clock_step", seq, seq, 0, ts, step_us)
            for dispatcher in self.dispatchers.values():
                dispatcher.split_at_step(ts, ns)
        if stepped and step_us < 0:
            self._close_window(ns)
            self.segment += 1
            self._open_window(ts)
        else:
            segment_at_ts = self.segment + stepped
            self._pass_borders(ts, ns, segment_at_ts)
            self.segment = segment_at_ts
            for dispatcher in self.dispatchers.values() if stepped else ():
                dispatcher.split_at_step(ts, ns)

    def _pass_borders(self, ts: int, ns: int, segment_at_ts: int) -> None:
        """Close the windows that end at or before `ts`. Between two events only blocked dispatchers can have rows."""
        assert self.window is not None
        while ts >= self.window.end:
            border = self.window.end
            for dispatcher in self.dispatchers.values():
                dispatcher.split(border, ns)
            self._close_window(ns)
            blocked_on = any(d.stretch is not None and d.stretch.ns < ns for d in self.dispatchers.values())
            here = border if blocked_on else ts - ts % self.window_us
            if here == ts - ts % self.window_us:
                self.segment = segment_at_ts
            self._open_window(here)

    def _open_window(self, ts: int) -> None:
        start = ts - ts % self.window_us
        self.window = Window(start, start + self.window_us, self.segment, missing=self.lost_before)

    def _close_window(self, ns: int) -> None:
        window = self.window
        assert window is not None
        own = {"broker": self.broker, "epoch": self.epoch, "window_start": window.start, "window_end": window.end}
        own |= {"clock_segment": window.segment, "completeness": window.completeness}
        for dispatcher in self.dispatchers.values():
            waiting = self._backlog(dispatcher.topic).waiting(dispatcher.subscription)
            window.ended["subscription_throttle"] += dispatcher.close_window(waiting)
        for limiter in self.limiters.values():
            window.ended["limiter_windows"] += limiter.close_window(ns)
        for table, rows in window.ended.items():
            self.rows[table] += [{**own, **row} for row in rows]

    # ---- the end ---------------------------------------------------------------------------------------------------------------

    def end(self) -> None:
        """The epoch is over: its dispatchers and limiters end with its last event."""
        if self.window is not None and self.last_ts is not None:
            for topic, sub in list(self.dispatchers):
                self._end_dispatcher(topic, sub, self.last_ts, self.last_ns)
            for key in list(self.limiters):
                self._end_limiter(key, self.last_ts, self.last_ns)
            self._close_window(self.last_ns)

    def drain(self) -> None:
        """The log is over, the epoch is not: its window closes, its dispatchers stay open; blocked ones were so until the last event."""
        if self.window is not None:
            for dispatcher in self.dispatchers.values():
                dispatcher.unblock(self.last_ns)
            self._close_window(self.last_ns)

    def _end_limiter(self, key: tuple[str, str | None, str | None], ts: int, ns: int) -> None:
        limiter = self.limiters.pop(key, None)
        if limiter is not None and self.window is not None:
            self.window.ended["limiter_windows"] += limiter.close_window(ns, closed_at=ts)

    def _end_dispatcher(self, topic: str, sub: str, ts: int, ns: int) -> None:
        dispatcher = self.dispatchers.pop((topic, sub), None)
        if dispatcher is not None and self.window is not None:
            dispatcher.unblock(ns)
            rows = dispatcher.close_window(self._backlog(topic).waiting(sub), closed_at=ts)
            self.window.ended["subscription_throttle"] += rows
            self._end_limiter(("subscription", topic, sub), ts, ns)

    def _end_topic(self, topic: str, ts: int, ns: int) -> None:
        for key in [key for key in self.dispatchers if key[0] == topic]:
            self._end_dispatcher(*key, ts, ns)
        self._end_limiter(("topic", topic, None), ts, ns)
        self.backlogs.pop(topic, None)

    # ---- who exists ------------------------------------------------------------------------------------------------------------

    def _backlog(self, topic: str) -> TopicBacklog:
        return self.backlogs.setdefault(topic, TopicBacklog())

    def _begin_dispatcher(self, topic: str, sub: str, ts: int, begun: bool, sub_type: str | None = None) -> Dispatcher:
        begun = begun and topic in self.loaded
        dispatcher = Dispatcher(topic, sub, ts, begun, self.batch_mode, sub_type)
        self.dispatchers[topic, sub] = dispatcher
        return dispatcher

    def _dispatcher(self, event: Event, ts: int) -> Dispatcher:
        """The dispatcher of an event of its own; without a `dispatcher_open` it begins with it."""
        topic, sub = event["topic"], event["sub"]
        dispatcher = self.dispatchers.get((topic, sub)) or self._begin_dispatcher(topic, sub, ts, begun=False)
        dispatcher.touched = True
        return dispatcher

    def _on_broker_start(self, event: Event, ts: int, ns: int) -> None:
        self.started = True
        if BATCH_MODE in event["settings"]:
            self.batch_mode = event["settings"][BATCH_MODE].lower() == "true"

    def _on_setting(self, event: Event, ts: int, ns: int) -> None:
        if event["key"] == BATCH_MODE:
            self.batch_mode = event["value"].lower() == "true"

    def _on_topic_load(self, event: Event, ts: int, ns: int) -> None:
        self._end_topic(event["topic"], ts, ns)
        self.loaded.add(event["topic"])

    def _on_topic_unload(self, event: Event, ts: int, ns: int) -> None:
        self._end_topic(event["topic"], ts, ns)
        self.loaded.discard(event["topic"])

    def _on_dispatcher_open(self, event: Event, ts: int, ns: int) -> None:
        topic, sub = event["topic"], event["sub"]
        self._backlog(topic).meet(sub)
        self._end_dispatcher(topic, sub, ts, ns)
        self._begin_dispatcher(topic, sub, ts, begun=True, sub_type=event["sub_type"]).touched = True

    def _on_dispatcher_close(self, event: Event, ts: int, ns: int) -> None:
        self._end_dispatcher(event["topic"], event["sub"], ts, ns)

    def _on_dispatch_rate(self, event: Event, ts: int, ns: int) -> None:
        level = event["level"]
        topic = None if level == "broker" else event["topic"]
        sub = event["sub"] if level == "subscription" else None
        complete = self.started if topic is None else topic in self.loaded
        if sub is not None:
            complete = self._dispatcher(event, ts).begun
        key = (level, topic, sub)
        if key not in self.limiters:
            self.limiters[key] = Limiter(level, topic, sub, created_at=ts, complete=complete)
        self.limiters[key].apply(event, ns)

    # ---- ledgers and cursors ---------------------------------------------------------------------------------------------------

    def _on_ledger_close(self, event: Event, ts: int, ns: int) -> None:
        if event.get("snapshot"):
            self._backlog(event["topic"]).snapshot_ledger(event["ledger"], event["entries"], event["bytes"])

    def _on_ledger_open(self, event: Event, ts: int, ns: int) -> None:
        self._backlog(event["topic"]).open_ledger(event["ledger"])

    def _on_ledger_trim(self, event: Event, ts: int, ns: int) -> None:
        self._backlog(event["topic"]).trim(event["ledger"])

    def _on_publish(self, event: Event, ts: int, ns: int) -> None:
        self._backlog(event["topic"]).append(event["ledger"], 1, event["bytes"])

    def _on_cursor_open(self, event: Event, ts: int, ns: int) -> None:
        self._backlog(event["topic"]).open_cursor(event["sub"], event["ledger"], event["entry"], event.get("entries") or 0)

    def _on_cursor_close(self, event: Event, ts: int, ns: int) -> None:
        self._backlog(event["topic"]).cursors.pop(event["sub"], None)

    def _on_mark_delete(self, event: Event, ts: int, ns: int) -> None:
        kind = {"persisted": event["persisted"], "reset": bool(event.get("reset"))}
        self._backlog(event["topic"]).mark_delete(event["sub"], event["ledger"], event["entry"], **kind)

    def _on_consumer_open(self, event: Event, ts: int, ns: int) -> None:
        self._backlog(event["topic"]).open_consumer(event["sub"])

    def _on_consumer_close(self, event: Event, ts: int, ns: int) -> None:
        self._backlog(event["topic"]).close_consumer(event["sub"])

    # ---- reads and dispatches --------------------------------------------------------------------------------------------------

    def _limiters_of(self, topic: str, sub: str) -> dict[str, Limiter]:
        """The limiters of a dispatcher that exist, by level."""
        keys = {"broker": ("broker", None, None), "topic": ("topic", topic, None), "subscription": ("subscription", topic, sub)}
        return {level: self.limiters[key] for level, key in keys.items() if key in self.limiters}

    def _on_read(self, event: Event, ts: int, ns: int) -> None:
        self._backlog(event["topic"]).meet(event["sub"])
        dispatcher = self._dispatcher(event, ts)
        dispatcher.unblock(ns)
        limiters = self._limiters_of(event["topic"], event["sub"])
        asked_ns = event.get("asked_ns")
        now = ns if asked_ns is None else asked_ns
        observed = observed_answers(event)
        over_log = walk(event["want_msgs"], event["want_bytes"], observed.get)
        asked: dict[str, Answer] = {level: limiters[level].ask(now) for level in LEVELS if level in observed and level in limiters}
        modelled = walk(event["want_msgs"], event["want_bytes"], lambda level: model_answer(level, limiters, asked, now, bool(observed)))
        counting = over_log if observed else modelled

        waiting = dict(zip(DIMENSIONS, self._backlog(event["topic"]).waiting(event["sub"]), strict=True))
        binding = {d: counting.decisive(d) is not None and waiting[d] > counting.granted(d) for d in DIMENSIONS}
        for level, answers in asked.items():
            limiters[level].note_answer(observed.get(level), answers)
            if counting.reached(level):
                limiters[level].note_ask(counting, binding, level in observed)
        dispatcher.count_walk(counting, binding)
        dispatcher.count_throttled(modelled, "modelled_")
        dispatcher.count("reads_modelled", not observed)
        dispatcher.count("left_mismatches", bool(observed) and left_differs(event, over_log))
        if counting.blocked_by:
            dispatcher.block(counting.blocked_by, ts, ns)
        else:
            dispatcher.left = counting.left

    def _on_dispatch(self, event: Event, ts: int, ns: int) -> None:
        self._backlog(event["topic"]).meet(event["sub"])
        dispatcher = self._dispatcher(event, ts)
        entries, msgs, size = event["entries"], event["msgs"], event["bytes"]
        dispatcher.count("dispatches")
        dispatcher.count("dispatched_entries", entries)
        dispatcher.count("dispatched_msgs", msgs)
        dispatcher.count("dispatched_bytes", size)
        left = dispatcher.left
        dispatcher.count("oversized_dispatches", left is not None and (entries > left[0] or size > left[1]))
        if event.get("charged") is False:
            dispatcher.count("uncharged_msgs", msgs)
        else:
            for limiter in self._limiters_of(event["topic"], event["sub"]).values():
                limiter.consume({"msg": entries if dispatcher.batch_mode else msgs, "bytes": size}, ns)
        self._backlog(event["topic"]).dispatch(event["sub"], entries, size)


def observed_answers(event: Event) -> dict[str, Answer]:
    """What the log says that each level answered: levels with neither dimension are left out, an absent dimension is −1."""
    answers: dict[str, Answer] = {}
    for level, names in ANSWERS.items():
        msgs, size = (event.get(name) for name in names)
        if msgs is not None or size is not None:
            answers[level] = (-1 if msgs is None else msgs, -1 if size is None else size)
    return answers


def model_answer(level: str, limiters: dict[str, Limiter], asked: dict[str, Answer], now: int, observed: bool) -> Answer | None:
    """The model's answer at a level. If the log has no answers it is asked now, else what was `asked` stands and others are looked at."""
    if level not in limiters:
        return None
    if not observed:
        asked[level] = limiters[level].ask(now)
    return asked[level] if level in asked else limiters[level].look(now)


def left_differs(event: Event, over_log: Walk) -> bool:
    """Whether a logged `left_*` is not what the walk over the logged answers leaves."""
    logged = (event.get("left_msgs"), event.get("left_bytes"))
    return any(said is not None and said != left for said, left in zip(logged, over_log.left, strict=True))
