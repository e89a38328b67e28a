"""A small broker for random logs: it obeys the contract about ledgers, cursors, seeks, unloads and rounds, and writes its events.

Ledgers, cursors and what follows from an ack it knows by itself. What a quota check decides it asks of `QuotaBooks`, kept over its own
log: so its `quota_exceeded` and moves are those of an honest broker, unless an action says that it lies.
"""

from dataclasses import dataclass, field
from typing import Any

from bookkeeper.quota_books import QuotaBooks
from bookkeeper.quota_decisions import AGE, SIZE, decide
from bookkeeper.quota_script import BASE_S, EVICTION, EXCEPTION, HOLD, Log, Place

POLICIES = (EVICTION, HOLD, EXCEPTION)
VERSIONS = ("4.0.8", "4.0.14", "4.1.2", "4.2.2")


@dataclass
class FakeLedger:
    sizes: list[int] = field(default_factory=list)
    close_s: float | None = None


@dataclass
class FakeCursor:
    durable: bool
    mark: Place
    persisted: Place
    deleted: set[Place] = field(default_factory=set)


@dataclass
class FakeTopic:
    """A topic that exists, loaded or not. `ledgers` may hold an open one only while it is loaded."""

    name: str
    loaded: bool = False
    ledgers: dict[int, FakeLedger] = field(default_factory=dict)
    cursors: dict[str, FakeCursor] = field(default_factory=dict)
    producers: list[int] = field(default_factory=list)

    def entries(self) -> list[Place]:
        return [(number, entry) for number in sorted(self.ledgers) for entry in range(len(self.ledgers[number].sizes))]

    def behind(self, mark: Place) -> list[Place]:
        return [place for place in self.entries() if place > mark]

    def waiting(self, cursor: FakeCursor) -> list[Place]:
        return [place for place in self.behind(cursor.mark) if place not in cursor.deleted]

    def slid(self, cursor: FakeCursor, mark: Place) -> Place:
        """`mark`, or the end of the individually deleted entries right behind it."""
        for place in self.behind(mark):
            if place not in cursor.deleted:
                break
            mark = place
        return mark


class Broker(Log):
    """Actions are methods that take small numbers; what cannot be done now is left out."""

    def __init__(self, topics: int, *, version: int, precise: bool, with_ns: bool, at_once: bool) -> None:
        self.books = QuotaBooks()
        self.with_ns, self.at_once = with_ns, at_once
        self.topics = [FakeTopic(f"persistent://t/n/{number}") for number in range(topics)]
        self.next_ledger, self.next_producer = 1, 0
        super().__init__(VERSIONS[version % len(VERSIONS)], precise=precise)

    def add(self, kind: str, **payload: Any) -> "Broker":
        """The event, applied to the books at once; an epoch is told apart by its start."""
        super().add(kind, **payload)
        if not self.with_ns:
            del self.events[-1]["ns"]
        self.books.apply(self.events[-1])
        self.us += 1
        return self

    def wait(self, duration_ms: int) -> None:
        self.us += duration_ms * 1000

    def topic_at(self, number: int, *, loaded: bool = True) -> FakeTopic | None:
        topic = self.topics[number % len(self.topics)]
        self.topic = topic.name
        return topic if topic.loaded is loaded else None

    def cursor_at(self, number: int, sub: int) -> tuple[FakeTopic, str, FakeCursor] | None:
        topic = self.topic_at(number)
        if topic is None or not topic.cursors:
            return None
        name = sorted(topic.cursors)[sub % len(topic.cursors)]
        return topic, name, topic.cursors[name]

    # ---- topics and ledgers ----------------------------------------------------------------------------------------------------

    def load_topic(self, number: int, age: int, size: int, policy: int) -> None:
        """What was before comes as snapshots, cursors in the order of a heap."""
        topic = self.topic_at(number, loaded=False)
        if topic is None:
            return
        topic.loaded = True
        self.of_topic("topic_load")
        for ledger, held in sorted(topic.ledgers.items()):
            self.close(ledger, len(held.sizes), sum(held.sizes), snapshot=True, close_s=held.close_s)
        self._open_ledger(topic, snapshot=True)
        for name, cursor in sorted(topic.cursors.items(), key=lambda item: item[1].persisted):
            self.sub(name, cursor.mark, snapshot=True, entries=len(cursor.deleted))
        self.quota(SIZE, size, POLICIES[policy % 3])
        self.quota(AGE, age, POLICIES[policy // 3 % 3])

    def _open_ledger(self, topic: FakeTopic, *, snapshot: bool | None = None) -> None:
        topic.ledgers[self.next_ledger] = FakeLedger()
        self.open(self.next_ledger, snapshot=snapshot)
        self.next_ledger += 1

    def unload_topic(self, number: int, then: tuple[Any, ...] | None) -> None:
        """`then` is what follows at once: a load, as an action."""
        topic = self.topic_at(number)
        if topic is not None:
            self.unload()
            self._drop(topic, clean=True)
            self._follow(then)

    def _follow(self, action: tuple[Any, ...] | None) -> None:
        if action is not None:
            getattr(self, action[0])(*action[1:])

    def _drop(self, topic: FakeTopic, *, clean: bool) -> None:
        """Readers are gone and the open ledger closed; a broker that crashed has only what it had persisted."""
        topic.loaded, topic.producers = False, []
        topic.cursors = {name: cursor for name, cursor in topic.cursors.items() if cursor.durable}
        for cursor in topic.cursors.values():
            if clean:
                cursor.persisted = cursor.mark
            else:
                cursor.mark, cursor.deleted = cursor.persisted, set()
        open_one = max(topic.ledgers)
        if topic.ledgers[open_one].sizes:
            topic.ledgers[open_one].close_s = self.second()
        else:
            del topic.ledgers[open_one]

    def second(self) -> float:
        """Now, in a case's seconds, as a whole number of ms."""
        return self.us // 1000 / 1000 - BASE_S

    def restart(self, clean: bool, version: int, precise: bool, then: tuple[Any, ...]) -> None:
        """The broker ends, by itself or by a crash, and starts again; only what `then` loads is loaded."""
        if clean:
            for number, topic in enumerate(self.topics):
                if topic.loaded:
                    self.unload_topic(number, None)
            self.add("broker_stop")
        for topic in self.topics:
            if topic.loaded:
                self._drop(topic, clean=False)
        self.start_epoch(VERSIONS[version % len(VERSIONS)], precise=precise, epoch=self.epoch + 1, at=self.second() + 1)
        self._follow(then)

    def publish_some(self, number: int, count: int, size: int, msgs: int, behind_ms: int) -> None:
        """By a producer whose clock is `behind_ms` behind the broker's, or before it."""
        topic = self.topic_at(number)
        for _ in range(count if topic is not None else 0):
            assert topic is not None
            ledger = max(topic.ledgers)
            topic.ledgers[ledger].sizes.append(size)
            second = self.second() - behind_ms / 1000
            self.publish(ledger, len(topic.ledgers[ledger].sizes) - 1, size, msgs=msgs, second=second)

    def roll(self, number: int, move_on: bool) -> None:
        """The open ledger is closed; cursors at its very end are then moved before the next one, durably only."""
        topic = self.topic_at(number)
        if topic is None or not topic.ledgers[max(topic.ledgers)].sizes:
            return
        ledger = max(topic.ledgers)
        held = topic.ledgers[ledger]
        held.close_s = self.second()
        self.close(ledger, len(held.sizes), sum(held.sizes))
        self._open_ledger(topic)
        for name, cursor in topic.cursors.items():
            if move_on and cursor.durable and cursor.mark == cursor.persisted == (ledger, len(held.sizes) - 1):
                cursor.persisted = (max(topic.ledgers), -1)
                self.mark(name, cursor.persisted, persisted=True)

    def trim_some(self, number: int) -> None:
        """Closed ledgers before the one of the slowest durable cursor go; without such a cursor all of them."""
        topic = self.topic_at(number)
        if topic is None:
            return
        needed = min((cursor.persisted[0] for cursor in topic.cursors.values() if cursor.durable), default=max(topic.ledgers))
        for ledger in [ledger for ledger in topic.ledgers if ledger < min(needed, max(topic.ledgers))]:
            del topic.ledgers[ledger]
            self.trim(ledger)

    # ---- cursors and producers -------------------------------------------------------------------------------------------------

    def subscribe(self, number: int, sub: int, durable: bool, earliest: bool) -> None:
        topic = self.topic_at(number)
        if topic is None or f"sub-{sub}" in topic.cursors:
            return
        entries = topic.entries()
        place = (min(topic.ledgers), -1) if earliest or not entries else entries[-1]
        topic.cursors[f"sub-{sub}"] = FakeCursor(durable, place, place)
        self.sub(f"sub-{sub}", place, durable=durable)

    def leave(self, number: int, sub: int) -> None:
        found = self.cursor_at(number, sub)
        if found is not None:
            del found[0].cursors[found[1]]
            self.unsubscribe(found[1])

    def _moved(self, topic: FakeTopic, name: str, cursor: FakeCursor, place: Place) -> None:
        """In memory now; durably at once, or when it is flushed."""
        cursor.mark = topic.slid(cursor, place)
        cursor.deleted = {gone for gone in cursor.deleted if gone > cursor.mark}
        self.mark(name, cursor.mark, persisted=False)
        if self.at_once:
            self._persist(name, cursor)

    def _persist(self, name: str, cursor: FakeCursor) -> None:
        if cursor.mark > cursor.persisted:
            cursor.persisted = cursor.mark
            self.mark(name, cursor.mark, persisted=True)

    def flush(self, number: int, sub: int) -> None:
        found = self.cursor_at(number, sub)
        if found is not None:
            self._persist(found[1], found[2])

    def ack_some(self, number: int, sub: int, first: int, step: int, count: int) -> None:
        """Individually, from the `first` waiting entry on, every `step`th."""
        found = self.cursor_at(number, sub)
        if found is None:
            return
        topic, name, cursor = found
        for place in topic.waiting(cursor)[first :: step or 1][:count]:
            self.ack(name, place)
            cursor.deleted.add(place)
            if topic.behind(cursor.mark)[0] == place:
                self._moved(topic, name, cursor, place)

    def ack_again(self, number: int, sub: int, batch_index: bool) -> None:
        """An entry that is gone already once more; or a part of the batch that waits first."""
        found = self.cursor_at(number, sub)
        if found is None:
            return
        topic, name, cursor = found
        if batch_index and topic.waiting(cursor):
            self.ack(name, topic.waiting(cursor)[0], batch_index=0)
        elif not batch_index and cursor.mark[1] >= 0:
            self.ack(name, cursor.mark)

    def ack_all_to(self, number: int, sub: int, count: int, asked: bool) -> None:
        """Cumulatively over `count` entries; or, not asked for by an ack, skipped by an operator."""
        found = self.cursor_at(number, sub)
        if found is None:
            return
        topic, name, cursor = found
        places = topic.behind(cursor.mark)[:count]
        if places:
            if asked:
                self.ack(name, places[-1], ack_type="cumulative")
            self._moved(topic, name, cursor, places[-1])

    def seek(self, number: int, sub: int, to: int) -> None:
        """To before the entry number `to`: durably first, with `reset` only if it goes back, then in memory."""
        found = self.cursor_at(number, sub)
        if found is None:
            return
        topic, name, cursor = found
        places = [(min(topic.ledgers), -1), *topic.entries()]
        place = places[to % len(places)]
        if place != cursor.persisted:
            self.mark(name, place, persisted=True, reset=True if place < cursor.persisted else None)
        cursor.mark, cursor.persisted, cursor.deleted = place, place, set()
        self.mark(name, place, persisted=False, reset=True)

    def produce(self, number: int, arrive: bool) -> None:
        topic = self.topic_at(number)
        if topic is None:
            return
        if arrive:
            self.check_by_producer()
            topic.producers.append(self.next_producer)
            self.of_topic("producer_open", producer=self.next_producer, conn=1)
            self.next_producer += 1
        elif topic.producers:
            self.of_topic("producer_close", producer=topic.producers.pop(), conn=1)

    def new_quota(self, number: int, kind: bool, limit: int, policy: int) -> None:
        if self.topic_at(number) is not None:
            self.quota(AGE if kind else SIZE, limit, POLICIES[policy % 3])

    # ---- rounds ----------------------------------------------------------------------------------------------------------------

    def round(self, takes_ms: int, overlapping: bool, lies: bool, late: bool) -> None:
        """Over a system topic and all loaded ones, `takes_ms` each; a second round may begin before the first has checked anything."""
        starts = []
        for _ in range(2 if overlapping else 1):
            starts.append(self.us)
            self.add("quota_round", phase="start")
            self.wait(takes_ms if overlapping else 0)
        for start in starts:
            self.add("quota_check", topic="persistent://t/n/__change_events", duration_us=self.us - start)
            for number, topic in enumerate(self.topics):
                if topic.loaded:
                    self._check(number, topic, start, takes_ms, lies=lies, late=late)
            self.add("quota_round", phase="end", duration_us=self.us - start)

    def _check(self, number: int, topic: FakeTopic, start: int, takes_ms: int, *, lies: bool, late: bool) -> None:
        """The decision is the books'; a liar says nothing of it and moves nobody. An age by entries may be acted on after the check."""
        self.topic_at(number)
        self.wait(takes_ms)
        asked = {"ts": self.us, "type": "quota_check"}
        decision = decide(self.books.topics[topic.name], topic.name, asked, self.books.rules)
        acts = decision.eviction is not None and not lies
        if acts and decision.eviction is not None:
            row = decision.eviction
            kind = SIZE if row["quota_type"] == "size" else AGE
            self.of_topic("quota_exceeded", quota_type=kind, policy=row["policy"], limit=row["limit"])
        in_background = late and decision.in_background()
        if acts and not in_background:
            self._act(topic, decision.eviction)
        self.of_topic("quota_check", duration_us=self.us - start)
        if acts and in_background:
            self._act(topic, decision.eviction)

    def _act(self, topic: FakeTopic, row: dict[str, Any] | None) -> None:
        for step in row["moves"] if row is not None else []:
            cursor = topic.cursors[step["sub"]]
            cursor.mark = step["to_position"]
            cursor.deleted = {gone for gone in cursor.deleted if gone > cursor.mark}
            self.mark(step["sub"], cursor.mark, persisted=False)
            if cursor.durable:
                self._persist(step["sub"], cursor)
        if row is not None and row["producers_cut_off"]:
            for producer in topic.producers:
                self.of_topic("producer_close", producer=producer, conn=1)
            topic.producers.clear()
