"""A subscription on a loaded topic: its cursor, its backlog, its dispatcher, and the consumers that come and go."""

from sim.backlog import Backlog
from sim.consumer import Consumer, Spans
from sim.dispatcher import Dispatcher
from sim.key_shared import KeySharedDispatcher
from sim.limiters import Limiter
from sim.managed_cursor import ManagedCursor
from sim.scenario import Consumers, Limit
from sim.storage import Position


class LiveSubscription:
    """One subscription from the load of its topic to the unload."""

    def __init__(self, cursor: ManagedCursor, topic_limiter: Limiter) -> None:
        self.cursor, self.declared, self.process = cursor, cursor.declared, cursor.process
        self.backlog = Backlog(cursor)
        #: It opens with the first consumer, and stays.
        self.dispatcher: Dispatcher | None = None
        #: Backlog at the last quota check, before its action; None: no check yet.
        self.checked_entries: int | None = None
        #: Of its backlog, those that quotas took.
        self.evicted_entries = 0
        self._topic_limiter = topic_limiter

    # ---- life ----------------------------------------------------------------------------------------------------------------------
    def start(self) -> None:
        """Plan when consumers are there, when limits change, and when the dispatcher is stuck."""
        agenda, number = self.process.agenda, 0
        for kind in self.declared.consumers:
            away = Spans(kind.away)
            for _ in range(kind.count):
                gone_until_ns = away.end_at(agenda.now_ns)
                agenda.at(agenda.now_ns + 1 if gone_until_ns is None else gone_until_ns, self._arrive, kind, number, away)
                number += 1
        self.process.plan_changes(self.declared.limit_changes, self._apply)
        for from_ns, to_ns in Spans(self.declared.stuck).spans:
            if to_ns > agenda.now_ns:
                agenda.at(from_ns, self._set_stuck, True)
                agenda.at(to_ns, self._set_stuck, False)

    def _arrive(self, kind: Consumers, number: int, away: Spans) -> None:
        if self.cursor.closed:
            return
        if self.dispatcher is None:
            self._open_dispatcher()
        consumer = Consumer(self, self.cursor, kind, number)
        consumer.open()
        agenda = self.process.agenda
        for from_ns, to_ns in away.spans:
            if from_ns > agenda.now_ns:
                agenda.at(from_ns, consumer.disconnect)
                agenda.at(to_ns, self._arrive, kind, number, away)
                return

    def _open_dispatcher(self) -> None:
        self.process.log.add(f'"dispatcher_open",{self.cursor.json},"sub_type":"{self.declared.type}"')
        kind = KeySharedDispatcher if self.cursor.is_keyed else Dispatcher
        self.dispatcher = kind(self.backlog, self._topic_limiter)
        limit = self.process.limit_now(self.declared.limit, self.declared.limit_changes)
        if limit.limits:
            self._apply(limit)

    def _apply(self, limit: Limit) -> None:
        if self.dispatcher is not None and not self.cursor.closed:
            self.process.apply_limit(self.dispatcher.limits.own, "subscription", self.cursor.json + ",", limit)

    def _set_stuck(self, stuck: bool) -> None:
        if self.dispatcher is not None and not self.cursor.closed:
            if stuck:
                self.dispatcher.stuck = True
                self.dispatcher.read_more()
            else:
                self.dispatcher.unstick()

    def close(self) -> None:
        """The topic is unloaded: the dispatcher ends, consumers with it."""
        log = self.process.log
        self.cursor.persist()
        if self.dispatcher is not None:
            log.add(f'"dispatcher_close",{self.cursor.json}')
        for consumer in self.backlog.consumers:
            consumer.gone = True
            log.add(f'"consumer_close",{consumer.json}')
            log.add(f'"conn_close","conn":{consumer.connection}')
            self.process.connection_closed(consumer.connection)
        self.backlog.consumers = []
        self.end()

    def end(self) -> None:
        """Nothing comes any more, and nobody has a backlog."""
        self.cursor.closed = True
        self.backlog.settle()

    # ---- what the topic asks for ---------------------------------------------------------------------------------------------------
    def published(self) -> None:
        """There is a new entry."""
        if self.dispatcher is not None:
            self.dispatcher.published()
        self.backlog.settle()

    def evict_to(self, mark: int, position: Position | None = None) -> None:
        """A quota moves the cursor to `mark` at least (printed as `position`, if given)."""
        cursor, backlog = self.cursor, self.backlog
        before = cursor.backlog()
        cursor.evict_to(mark, position)
        self.evicted_entries += before - cursor.backlog()
        backlog.in_flight = sum(cursor.is_unacknowledged(index) for consumer in backlog.consumers for index in consumer.pending)
        if self.dispatcher is not None:
            self.dispatcher.forget_until(cursor.stored.mark)
        backlog.settle()

    # ---- what consumers ask for (sim.consumer.Server) ------------------------------------------------------------------------------
    def joined(self, consumer: Consumer) -> None:
        """A consumer has subscribed."""
        self.backlog.consumers.append(consumer)

    def flow(self) -> None:
        """A consumer has more permits."""
        self._dispatching().read_more()

    def channel_changed(self) -> None:
        """A consumer's channel can be written to no more, or again."""
        self._dispatching().channel_changed()

    def acknowledge(self, consumer: Consumer, indexes: list[int]) -> None:
        """Entries that a client has processed: one by one, or all up to the last one (Exclusive)."""
        cursor, dispatcher, stored, log = self.cursor, self._dispatching(), self.cursor.ledger.stored, self.process.log
        single = cursor.is_shared
        kind = "individual" if single else "cumulative"
        for index in indexes if single else indexes[-1:]:
            if index >= stored.ledgers[0].first:
                ledger, entry = stored.position_of(index)
                log.add(f'"ack",{cursor.json},"consumer":{consumer.number},"ack_type":"{kind}","ledger":{ledger},"entry":{entry}')
        for index in indexes:
            msgs = consumer.drop(index)
            if single:
                dispatcher.caps.unacked_msgs -= msgs
            if cursor.is_unacknowledged(index):
                self.backlog.in_flight -= 1
                cursor.stored.acked.add(index)
        before = cursor.stored.mark
        cursor.slide()
        dispatcher.check_unacked()
        dispatcher.acknowledged(consumer, indexes, cursor.stored.mark > before)
        self.backlog.settle()

    def give_back(self, consumer: Consumer, indexes: list[int]) -> None:
        """A client acknowledges nothing of this, it wants it to be delivered again (Shared)."""
        dispatcher = self._dispatching()
        back = [index for index in indexes if self.cursor.is_unacknowledged(index)]
        for index in indexes:
            dispatcher.caps.unacked_msgs -= consumer.drop(index)
        if back:
            self.backlog.was_given_back = True
            self.backlog.in_flight -= len(back)
            dispatcher.put_back(back)
            if self.process.tells_causes:
                self.process.log.add(f'"redeliver",{consumer.json},"cause":"requested","entries":{len(back)}')
        dispatcher.check_unacked()
        dispatcher.read_more()
        self.backlog.settle()

    def left(self, consumer: Consumer) -> None:
        """A consumer has gone: others get what it had, or the cursor goes back."""
        dispatcher, backlog, log = self._dispatching(), self.backlog, self.process.log
        backlog.consumers.remove(consumer)
        had = sorted(index for index in consumer.pending if self.cursor.is_unacknowledged(index))
        # A broker gives them back first, also those of the last consumer.
        if had and self.cursor.is_shared and self.process.tells_causes:
            log.add(f'"redeliver",{consumer.json},"cause":"consumer_closed","entries":{len(had)}')
        log.add(f'"consumer_close",{consumer.json}')
        if backlog.consumers:
            backlog.in_flight -= len(had)
            dispatcher.caps.unacked_msgs -= consumer.unacked_msgs
            dispatcher.put_back(had)
            dispatcher.check_unacked()
            dispatcher.read_more()
        else:
            dispatcher.abandon()
        backlog.settle()

    def _dispatching(self) -> Dispatcher:
        """The dispatcher, which is there since the first consumer came."""
        assert self.dispatcher is not None
        return self.dispatcher
