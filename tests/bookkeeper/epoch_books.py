"""The books of one epoch of one broker: its dispatchers and limiters, and what each event does to them (docs/design/throttling.md)."""

from bookkeeper.backlog import GONE_FOR_US, TopicBacklog
from bookkeeper.dispatchers import Dispatcher
from bookkeeper.epoch_time import EpochTime, Event, Row
from bookkeeper.limiters import Limiter
from bookkeeper.longs import DIMENSIONS, LEVELS
from bookkeeper.walk import Answer, Walk, walk

BATCH_MODE = "dispatchThrottlingOnBatchMessageEnabled"
ANSWERS = {level: (f"{short}_msgs", f"{short}_bytes") for level, short in zip(LEVELS, ("broker", "topic", "sub"), strict=True)}


class EpochBooks(EpochTime):
    """Feed it `lose` and `apply` in seq order, then `end` or `drain`; `rows` has the tables."""

    def __init__(self, broker: str, epoch: int, window_ms: int, clock_step_ms: int) -> None:
        super().__init__(broker, epoch, window_ms, clock_step_ms, ("subscription_throttle", "limiter_windows"))
        self.loaded: set[str] = set()
        self.backlogs: dict[str, TopicBacklog] = {}
        self.dispatchers: dict[tuple[str, str], Dispatcher] = {}
        self.limiters: dict[tuple[str, str | None, str | None], Limiter] = {}
        self.batch_mode = False
        self.started = False

    # ---- time ------------------------------------------------------------------------------------------------------------------

    def _make_incomplete(self) -> None:
        for dispatcher in self.dispatchers.values():
            dispatcher.complete = False
        for limiter in self.limiters.values():
            limiter.complete = False
        for backlog in self.backlogs.values():
            backlog.doubted = set(backlog.gone)

    def _split(self, border: int, ts: int, ns: int, seq: int) -> None:
        for dispatcher in self.dispatchers.values():
            dispatcher.split(border, ns)

    def _split_at_step(self, ts: int, ns: int, seq: int) -> None:
        for dispatcher in self.dispatchers.values():
            dispatcher.split_at_step(ts, ns)

    def _lasts_until(self, ts: int, ns: int) -> bool:
        return any(d.stretch is not None and d.stretch.ns < ns for d in self.dispatchers.values())

    def _rows_of_window(self, ns: int) -> dict[str, list[Row]]:
        for backlog in self.backlogs.values():
            backlog.forget_gone(self.window.start - GONE_FOR_US)
        throttled, limited = [], []
        for dispatcher in self.dispatchers.values():
            throttled += dispatcher.close_window(self._backlog(dispatcher.topic).waiting(dispatcher.subscription))
        for limiter in self.limiters.values():
            limited += limiter.close_window(ns)
        return {"subscription_throttle": throttled, "limiter_windows": limited}

    # ---- the end ---------------------------------------------------------------------------------------------------------------

    def _end_all(self, ts: int, ns: int) -> None:
        for topic, sub in list(self.dispatchers):
            self._end_dispatcher(topic, sub, ts, ns)
        for key in list(self.limiters):
            self._end_limiter(key, ts, ns)

    def _stop_stretches(self, ns: int) -> None:
        for dispatcher in self.dispatchers.values():
            dispatcher.unblock(ns)

    def _end_limiter(self, key: tuple[str, str | None, str | None], ts: int, ns: int) -> None:
        limiter = self.limiters.pop(key, None)
        if limiter is not None and self.window is not None:
            self.window.end_rows("limiter_windows", limiter.close_window(ns, closed_at=ts))

    def _end_dispatcher(self, topic: str, sub: str, ts: int, ns: int) -> None:
        dispatcher = self.dispatchers.pop((topic, sub), None)
        if dispatcher is not None and self.window is not None:
            dispatcher.unblock(ns)
            rows = dispatcher.close_window(self._backlog(topic).waiting(sub), closed_at=ts)
            self.window.end_rows("subscription_throttle", rows)
            self._end_limiter(("subscription", topic, sub), ts, ns)

    def _end_topic(self, topic: str, ts: int, ns: int) -> None:
        for key in [key for key in self.dispatchers if key[0] == topic]:
            self._end_dispatcher(*key, ts, ns)
        self._end_limiter(("topic", topic, None), ts, ns)
        self.backlogs[topic] = self._backlog(topic).unloaded(ts)

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
        self.backlogs.pop(event["topic"])
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
        self._backlog(event["topic"]).close_ledger(event["ledger"], event["entries"], event["bytes"])

    def _on_ledger_open(self, event: Event, ts: int, ns: int) -> None:
        self._backlog(event["topic"]).open_ledger(event["ledger"])

    def _on_ledger_trim(self, event: Event, ts: int, ns: int) -> None:
        self._backlog(event["topic"]).trim(event["ledger"])

    def _on_publish(self, event: Event, ts: int, ns: int) -> None:
        self._backlog(event["topic"]).publish(event["ledger"], event["entry"], event["bytes"])

    def _on_cursor_open(self, event: Event, ts: int, ns: int) -> None:
        self._backlog(event["topic"]).open_cursor(event["sub"], event["ledger"], event["entry"], event.get("entries") or 0)

    def _on_cursor_close(self, event: Event, ts: int, ns: int) -> None:
        self._backlog(event["topic"]).close_cursor(event["sub"], ts)

    def _on_mark_delete(self, event: Event, ts: int, ns: int) -> None:
        kind = {"persisted": event["persisted"], "reset": bool(event.get("reset"))}
        self._backlog(event["topic"]).mark_delete(event["sub"], event["ledger"], event["entry"], **kind)

    def _on_ack(self, event: Event, ts: int, ns: int) -> None:
        self._backlog(event["topic"]).meets(event["sub"])

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
            permits = {"msg": entries if dispatcher.batch_mode else msgs, "bytes": size}
            for level, limiter in self._limiters_of(event["topic"], event["sub"]).items():
                limiter.consume(permits, ns)
                for dimension in limiter.limited():
                    dispatcher.count(f"charged_{dimension}_by_{level}_limit", permits[dimension])
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
