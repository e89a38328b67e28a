"""A consumer: its client with a queue, a rate and pauses, and what the broker knows of it."""

from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Sequence
from typing import Protocol

from sim.agenda import NS_PER_MS, NS_PER_S, ns
from sim.chance import stream
from sim.managed_cursor import ManagedCursor
from sim.scenario import Consumers, Span


class Server(Protocol):
    """What a client asks of the subscription that it is connected to, and tells it."""

    def joined(self, consumer: "Consumer") -> None:
        """It has subscribed."""

    def flow(self) -> None:
        """It has more permits."""

    def channel_changed(self) -> None:
        """Its channel can be written to no more, or again."""

    def acknowledge(self, consumer: "Consumer", indexes: list[int]) -> None:
        """It has processed these entries."""

    def give_back(self, consumer: "Consumer", indexes: list[int]) -> None:
        """It wants these entries to be delivered again."""

    def left(self, consumer: "Consumer") -> None:
        """It is gone."""


class Spans:
    """Stretches of the scenario in ns, in order."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self.spans = sorted((ns(span.from_s), ns(span.to_s)) for span in spans)
        self._starts = [span[0] for span in self.spans]

    def end_at(self, now_ns: int) -> int | None:
        """The end of the stretch that `now_ns` lies in."""
        place = bisect_right(self._starts, now_ns) - 1
        if place < 0 or now_ns >= self.spans[place][1]:
            return None
        return self.spans[place][1]


class Consumer:
    """One consumer while it is connected. `permits` and `unacked_msgs` are the broker's, `queue` is the client's."""

    def __init__(self, server: Server, cursor: ManagedCursor, declared: Consumers, number: int) -> None:
        self.server, self.cursor, self.declared, self.number = server, cursor, declared, number
        self.process = cursor.process
        self.connection = self.process.next_connection()
        self.permits = self.unacked_msgs = 0
        self.blocked = self.gone = False
        self.writable = True
        #: Index → messages: delivered and not acknowledged.
        self.pending: dict[int, int] = {}
        #: Key → how many of them have it (Key_Shared).
        self.keys: Counter[int] = Counter()
        self.queue: deque[tuple[int, int]] = deque()
        self._service_ns = NS_PER_S / declared.msgs_per_s
        self._chance = stream(self.process.seed, self.process.name, cursor.ledger.name, cursor.declared.name, number)
        self._idle, self._gives_back = Spans(declared.idle), Spans(declared.gives_back)
        self._is_idle = False
        self._frozen = Spans((*declared.pauses, *declared.unwritable))
        self._head_done_ns = 0
        self._free_ns = 0
        self._awake = False
        self._consumed_msgs = 0
        self.name = f"{cursor.declared.name}-{number}"
        self.json = f'{cursor.json},"consumer":{number},"conn":{self.connection}'

    # ---- what the broker does with it ----------------------------------------------------------------------------------------------
    def open(self) -> None:
        """Connect, subscribe, and ask for as many messages as the queue holds."""
        log = self.process.log
        log.add(f'"conn_open","conn":{self.connection}')
        named = f',"consumer_name":"{self.name}","priority_level":0' if self.process.tells_states else ""
        log.add(f'"consumer_open",{self.json}{named}')
        self.server.joined(self)
        now_ns = self.process.agenda.now_ns
        for from_ns, to_ns in Spans(self.declared.unwritable).spans:
            if to_ns > now_ns:
                self.process.agenda.at(from_ns, self._set_writable, False)
                self.process.agenda.at(to_ns, self._set_writable, True)
        self._grant(self.declared.prefetch)

    def _set_writable(self, writable: bool) -> None:
        if not self.gone and writable is not self.writable:
            self.writable = writable
            self.process.channel_changed(self.connection, writable)
            self.server.channel_changed()

    def _grant(self, msgs: int) -> None:
        self.permits += msgs
        if self.process.tells_causes:
            self.process.log.add(f'"flow",{self.json},"permits":{msgs}')
        self.server.flow()

    def receive(self, index: int, msgs: int) -> None:
        """An entry was delivered; `wake` follows when the delivery is complete."""
        self.permits -= msgs
        self.unacked_msgs += msgs
        self.pending[index] = msgs
        self.queue.append((index, msgs))
        if self.cursor.is_keyed:
            self.keys[self.cursor.ledger.stored.key_of(index)] += 1

    def drop(self, index: int) -> int:
        """An entry is not with it any more, it acknowledged it or gave it back; its messages."""
        msgs = self.pending.pop(index, 0)
        self.unacked_msgs -= msgs
        if msgs and self.cursor.is_keyed:
            self.keys[self.cursor.ledger.stored.key_of(index)] -= 1
        return msgs

    # ---- the client ----------------------------------------------------------------------------------------------------------------
    def wake(self) -> None:
        """There is something in the queue."""
        if self._awake or not self.queue:
            return
        self._awake = True
        self._begin_head(self.process.agenda.now_ns)
        self._plan_look()

    def _begin_head(self, now_ns: int) -> None:
        began_ns = max(self._free_ns, now_ns)
        thawed_ns = self._frozen.end_at(began_ns)
        took_ns = round(self.queue[0][1] * self._service_ns * (0.75 + 0.5 * self._chance.random()))
        self._head_done_ns = (began_ns if thawed_ns is None else thawed_ns) + took_ns

    def _plan_look(self) -> None:
        now_ns = self.process.agenda.now_ns
        self.process.agenda.at(max(self._head_done_ns, now_ns + round(self.declared.ack_every_ms * NS_PER_MS)), self._look)

    def _look(self) -> None:
        """Acknowledge what was processed since the last look, and ask for more when half of the queue's room is free."""
        if self.gone:
            return
        now_ns = self.process.agenda.now_ns
        thaws_ns = self._frozen.end_at(now_ns)
        if thaws_ns is not None:
            self._head_done_ns = max(self._head_done_ns, thaws_ns + round(self._service_ns))
            self.process.agenda.at(self._head_done_ns, self._look)
            return
        done: list[int] = []
        queue = self.queue
        while queue and self._head_done_ns <= now_ns:
            index, msgs = queue.popleft()
            done.append(index)
            self._consumed_msgs += msgs
            self._free_ns = self._head_done_ns
            if queue:
                self._begin_head(self._head_done_ns)
        if queue:
            self._plan_look()
        else:
            self._awake = False
        if self.is_giving_back and done:
            self.server.give_back(self, done)
        elif self.declared.ack_after_s:
            self.process.agenda.at(now_ns + ns(self.declared.ack_after_s), self._acknowledge, done)
        else:
            self._acknowledge(done)
        self._ask_for_more()

    def _ask_for_more(self) -> None:
        """Half of the queue's room is free: ask for as many messages. One that is idle asks when it is so no more."""
        if self.gone or self._is_idle or self._consumed_msgs < max(1, self.declared.prefetch // 2):
            return
        idle_until_ns = self._idle.end_at(self.process.agenda.now_ns)
        if idle_until_ns is not None:
            self._is_idle = True
            self.process.agenda.at(idle_until_ns, self._wakes_up)
            return
        consumed, self._consumed_msgs = self._consumed_msgs, 0
        self._grant(consumed)

    def _wakes_up(self) -> None:
        self._is_idle = False
        self._ask_for_more()

    @property
    def is_giving_back(self) -> bool:
        """Whether it gives back what it gets, now."""
        return self._gives_back.end_at(self.process.agenda.now_ns) is not None

    def _acknowledge(self, indexes: list[int]) -> None:
        if not self.gone and indexes:
            self.server.acknowledge(self, indexes)

    def disconnect(self) -> None:
        """It leaves, with what it has not acknowledged."""
        if not self.gone:
            self.gone = True
            self.server.left(self)
            self.process.log.add(f'"conn_close","conn":{self.connection}')
            self.process.connection_closed(self.connection)
