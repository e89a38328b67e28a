"""The books of one epoch's channels: what each event does to connections, to the broker's buffers, to topics with producers."""

from collections import Counter
from typing import Any

from bookkeeper.channel_connection import NEVER_NS, Connection, Moment, Row, Rules
from bookkeeper.channel_memory import Level, MemoryWindow
from bookkeeper.channel_settings import ChannelSettings, channel_settings
from bookkeeper.channel_stretch import Stretch
from bookkeeper.channel_tracker import DECIDED
from bookkeeper.epoch_time import EpochTime, Event

TABLES = ("channel_backpressure", "channel_transitions", "channel_memory", "topic_publish_pauses", "unwritable_reads")


class EpochChannels(EpochTime):
    """Feed it `lose` and `apply` in seq order, then `end` or `drain`; `rows` has the tables."""

    def __init__(self, broker: str, epoch: int, window_ms: int, clock_step_ms: int) -> None:
        super().__init__(broker, epoch, window_ms, clock_step_ms, TABLES)
        self.rules = Rules(ChannelSettings())
        self.connections: dict[int, Connection] = {}
        self.memory = MemoryWindow()
        self.topics: dict[str, Stretch] = {}
        self.limited_publishes: Counter[str] = Counter()
        self.unwritable_reads: Counter[tuple[str, str]] = Counter()
        #: Nothing is due before; None where that must be looked up.
        self.next_due_ns: int | None = None

    # ---- time ------------------------------------------------------------------------------------------------------------------

    def _make_incomplete(self) -> None:
        for connection in self.connections.values():
            connection.complete = False

    def _move_time(self, ts: int, ns: int, seq: int) -> None:
        super()._move_time(ts, ns, seq)
        self._fire_due(ns, seq)

    def _fire_due(self, ns: int, seq: int, border: int | None = None) -> None:
        """Timers due by `ns`, the earliest first; with a `border` only what falls before it. Then cooldowns that are over."""
        if self.next_due_ns is not None and ns < self.next_due_ns:
            return
        due = [(c.timer.due_ns, c.conn) for c in self.connections.values() if c.timer is not None and c.timer.due_ns <= ns]
        for _, conn in sorted(due):
            connection = self.connections[conn]
            assert connection.timer is not None
            at = Moment(connection.timer.due_ts, connection.timer.due_ns, seq)
            if border is None or at.ts < border:
                connection.fire_timer(seq)
                self._changed(connection, at)
        for connection in self.connections.values():
            connection.close_cooldown(ns, seq, border)
            self._take_transitions(connection)
        self.next_due_ns = min((c.next_due_ns for c in self.connections.values()), default=NEVER_NS)

    def _split(self, border: int, ts: int, ns: int, seq: int) -> None:
        self._fire_due(ns, seq, border)
        for connection in self.connections.values():
            for stretch in connection.stretches:
                stretch.split(border, min(ns, connection.timer_due_ns))
        for topic, stretch in self.topics.items():
            theirs = (c.timer_due_ns for c in self.connections.values() if topic in c.producers.values())
            stretch.split(border, min([ns, *theirs]))

    def _split_at_step(self, ts: int, ns: int, seq: int) -> None:
        self._fire_due(ns, seq)
        for stretch in self._stretches():
            stretch.step(ts, ns)
        for connection in self.connections.values():
            if connection.timer is not None:
                connection.timer.anchor = (ts, ns)
        self.next_due_ns = None

    def _lasts_until(self, ts: int, ns: int) -> bool:
        timers = [c.timer for c in self.connections.values() if c.timer is not None]
        return any(s.lasts_until(ns) for s in self._stretches()) or any(timer.due_ns <= ns for timer in timers)

    def _stretches(self) -> list[Stretch]:
        return [s for c in self.connections.values() for s in c.stretches] + list(self.topics.values())

    def _rows_of_window(self, ns: int) -> dict[str, list[Row]]:
        backpressure = [row for connection in self.connections.values() for row in connection.take_row()]
        pauses = []
        for topic in sorted({*self.topics, *self.limited_publishes}):
            spent = self.topics[topic].take() if topic in self.topics else 0
            if spent or self.limited_publishes[topic]:
                pauses.append({"topic": topic, "producers_paused_ns": spent, "publish_limited_times": self.limited_publishes[topic]})
        reads = [
            {"topic": topic, "subscription": sub, "reads_by_unwritable_channel": n} for (topic, sub), n in self.unwritable_reads.items()
        ]
        self.limited_publishes, self.unwritable_reads = Counter(), Counter()
        return {
            "channel_backpressure": backpressure,
            "channel_memory": self._memory_row(),
            "topic_publish_pauses": pauses,
            "unwritable_reads": reads,
        }

    def _memory_row(self) -> list[Row]:
        assert self.window is not None
        assert self.last_ts is not None
        unwritable = self._unwritable()
        by_marks = Level(self._low * len(unwritable), max(self.window.start, self.last_ts), "marks") if unwritable else None
        open_now = self.connections.values()
        paused = sum(connection.believed.count > 0 for connection in open_now)
        counts = {"connections_open": len(open_now), "connections_unwritable": len(unwritable), "connections_paused": paused}
        memory, self.memory = self.memory, MemoryWindow()
        return memory.row(by_marks, counts)

    def _end_all(self, ts: int, ns: int) -> None:
        for conn in list(self.connections):
            self._end_connection(conn, ts, ns)

    def _stop_stretches(self, ns: int) -> None:
        for stretch in self._stretches():
            stretch.end(ns)

    # ---- connections -----------------------------------------------------------------------------------------------------------

    @property
    def _low(self) -> int:
        """The low mark, where the log tells it."""
        return self.rules.settings.low if self.rules.settings.known else 0

    def _unwritable(self) -> list[Connection]:
        return [connection for connection in self.connections.values() if not connection.writable]

    def _met(self, event: Event, at: Moment) -> Connection:
        """The connection of an event; met without its `conn_open` it is tracked from here on."""
        if event["conn"] not in self.connections:
            self.connections[event["conn"]] = Connection(event["conn"], self.rules, at, begun=False)
        return self.connections[event["conn"]]

    def _changed(self, connection: Connection, at: Moment, *topics: str) -> None:
        """After anything that happened to a connection: what follows for topics, and its transitions."""
        self.next_due_ns = None
        connection.note_sufferers()
        self.limited_publishes.update(connection.limited_publishes)
        connection.limited_publishes = []
        self._take_transitions(connection)
        paused = {topic for c in self.connections.values() if c.believed.count > 0 for topic in c.producers.values()}
        for topic in {*connection.producers.values(), *topics}:
            stretch = self.topics.setdefault(topic, Stretch())
            if topic in paused:
                stretch.begin(at.ts, at.ns)
            else:
                stretch.end(at.ns)

    def _take_transitions(self, connection: Connection) -> None:
        own = {"broker": self.broker, "epoch": self.epoch}
        self.rows["channel_transitions"] += [own | row for row in connection.transitions]
        connection.transitions = []

    def _end_connection(self, conn: int, ts: int, ns: int) -> None:
        connection = self.connections.pop(conn, None)
        if connection is not None:
            assert self.window is not None
            connection.end(ns)
            self.window.end_rows("channel_backpressure", connection.take_row(closed_at=ts))
            self._changed(connection, Moment(ts, ns, 0))

    def _on_broker_start(self, event: Event, ts: int, ns: int) -> None:
        self.rules.settings = channel_settings(event["settings"])
        self.rules.pause = self.rules.settings.pause

    def _on_conn_open(self, event: Event, ts: int, ns: int) -> None:
        at = Moment(ts, ns, event["seq"])
        self._end_connection(event["conn"], ts, ns)
        self.connections[event["conn"]] = Connection(event["conn"], self.rules, at, begun=True, remote=event.get("remote"))

    def _on_conn_close(self, event: Event, ts: int, ns: int) -> None:
        self._end_connection(event["conn"], ts, ns)

    def _on_writability(self, event: Event, ts: int, ns: int) -> None:
        at = Moment(ts, ns, event["seq"])
        connection = self._met(event, at)
        repeated_true = event["writable"] and connection.writable
        connection.hear_writability(event["writable"], event["pending_bytes"], at)
        others = self._low * sum(c is not connection for c in self._unwritable())
        proven_before = self.rules.settings.high + 1 + others if repeated_true and self.rules.settings.known else 0
        self.memory.note(Level(event["pending_bytes"] + others, ts, "writability"), proven_before)
        self._changed(connection, at)

    def _on_request(self, event: Event, ts: int, ns: int) -> None:
        at = Moment(ts, ns, event["seq"])
        connection = self._met(event, at)
        connection.hear_request(event["command"], at)
        self._changed(connection, at)

    def _on_throttle(self, event: Event, ts: int, ns: int) -> None:
        self.rules.carries = True
        if event["throttle_type"] in DECIDED and not self.rules.settings.known:
            self.rules.pause = True
        if event["conn"] in self.connections or event["on"]:
            at = Moment(ts, ns, event["seq"])
            connection = self._met(event, at)
            connection.hear_throttle(event["throttle_type"], event["on"], at)
            self._changed(connection, at)

    def _on_heartbeat(self, event: Event, ts: int, ns: int) -> None:
        total = event.get("pending_bytes")
        if total is None:
            return
        self.memory.note(Level(total, ts, "heartbeat"))
        unwritable = self._unwritable()
        if len(unwritable) == 1 and self.rules.settings.known:
            unwritable[0].hear_total(total, len(self.connections) - 1)

    # ---- who sits on them ------------------------------------------------------------------------------------------------------

    def _on_producer_open(self, event: Event, ts: int, ns: int) -> None:
        at = Moment(ts, ns, event["seq"])
        connection = self._met(event, at)
        before = connection.producers.pop(event["producer"], None)  # one of that id that is open there ends
        if before is not None:
            self._changed(connection, at, before)
        connection.producers[event["producer"]] = event["topic"]
        self._changed(connection, at)

    def _on_producer_close(self, event: Event, ts: int, ns: int) -> None:
        """The one of that id, whatever topic the event names: ids belong to the connection (`ServerCnx.handleCloseProducer`)."""
        connection = self.connections.get(event["conn"])
        topic = connection.producers.pop(event["producer"], None) if connection is not None else None
        if connection is not None and topic is not None:
            self._changed(connection, Moment(ts, ns, event["seq"]), topic)

    def _on_consumer_open(self, event: Event, ts: int, ns: int) -> None:
        at = Moment(ts, ns, event["seq"])
        connection = self._met(event, at)
        connection.consumers[event["consumer"]] = (event["topic"], event["sub"])
        self._changed(connection, at)

    def _on_consumer_close(self, event: Event, ts: int, ns: int) -> None:
        connection = self.connections.get(event["conn"])
        if connection is not None:
            connection.consumers.pop(event["consumer"], None)

    def _on_topic_load(self, event: Event, ts: int, ns: int) -> None:
        """Loaded or unloaded, nobody sits on the topic any more."""
        topic = event["topic"]
        for connection in self.connections.values():
            connection.producers = {id_: name for id_, name in connection.producers.items() if name != topic}
            connection.consumers = {id_: place for id_, place in connection.consumers.items() if place[0] != topic}
        if topic in self.topics:
            self.topics[topic].end(ns)

    _on_topic_unload = _on_topic_load

    def _on_read(self, event: Event, ts: int, ns: int) -> None:
        """A read of one entry, more permitted, while nobody of the subscription can be written to (semantics 1.2 step 2)."""
        place = (event["topic"], event["sub"])
        theirs = [c for c in self.connections.values() if place in c.consumers.values()]
        permits: Any = event.get("permits")
        shrunk = event["want_msgs"] == 1 and (permits is None or permits > 1)
        if shrunk and theirs and not any(c.writable for c in theirs):
            self.unwritable_reads[place] += 1
